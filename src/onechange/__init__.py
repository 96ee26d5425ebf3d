"""Did the change help, and may it ship? Paired statistics for RAG and LLM evaluations."""

__version__ = "0.1.0"
