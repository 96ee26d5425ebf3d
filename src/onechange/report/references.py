"""The works that the methods rest on; a report lists only those it used."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["REFERENCES", "Reference"]


@dataclass(frozen=True, slots=True)
class Reference:
    """One cited work; `kind` is its BibTeX type, `venue` the journal or publisher."""

    authors: str
    year: int
    title: str
    venue: str
    pages: str = ""
    kind: str = "article"
    short: str = ""

    @property
    def text(self) -> str:
        """The reference as one line."""
        venue = f"{self.venue}, {self.pages}" if self.pages else self.venue
        return f"{self.authors} ({self.year}). {self.title}. {venue}."

    @property
    def citation(self) -> str:
        """Short form for running text, ``Newcombe 1998``."""
        return f"{self.short} {self.year}"


REFERENCES: dict[str, Reference] = {
    "efron1993": Reference(
        "Efron, B. and Tibshirani, R. J.",
        1993,
        "An Introduction to the Bootstrap",
        "Chapman & Hall",
        kind="book",
        short="Efron & Tibshirani",
    ),
    "hesterberg2015": Reference(
        "Hesterberg, T. C.",
        2015,
        "What teachers should know about the bootstrap: resampling in the "
        "undergraduate statistics curriculum",
        "The American Statistician 69(4)",
        "371–386",
        short="Hesterberg",
    ),
    "fisher1935": Reference(
        "Fisher, R. A.",
        1935,
        "The Design of Experiments",
        "Oliver & Boyd",
        kind="book",
        short="Fisher",
    ),
    "hartigan1969": Reference(
        "Hartigan, J. A.",
        1969,
        "Using subsample values as typical values",
        "Journal of the American Statistical Association 64(328)",
        "1303–1317",
        short="Hartigan",
    ),
    "newcombe1998": Reference(
        "Newcombe, R. G.",
        1998,
        "Improved confidence intervals for the difference between binomial "
        "proportions based on paired data",
        "Statistics in Medicine 17(22)",
        "2635–2650",
        short="Newcombe",
    ),
    "mcnemar1947": Reference(
        "McNemar, Q.",
        1947,
        "Note on the sampling error of the difference between correlated "
        "proportions or percentages",
        "Psychometrika 12(2)",
        "153–157",
        short="McNemar",
    ),
    "fagerland2013": Reference(
        "Fagerland, M. W., Lydersen, S. and Laake, P.",
        2013,
        "The McNemar test for binary matched-pairs data: mid-p and asymptotic are "
        "better than exact conditional",
        "BMC Medical Research Methodology 13",
        "91",
        short="Fagerland et al.",
    ),
    "tango1998": Reference(
        "Tango, T.",
        1998,
        "Equivalence test and confidence interval for the difference in proportions "
        "for the paired-sample design",
        "Statistics in Medicine 17(8)",
        "891–908",
        short="Tango",
    ),
    "bonett2012": Reference(
        "Bonett, D. G. and Price, R. M.",
        2012,
        "Adjusted Wald confidence interval for a difference of binomial proportions "
        "based on paired data",
        "Journal of Educational and Behavioral Statistics 37(4)",
        "479–488",
        short="Bonett & Price",
    ),
    "wilson1927": Reference(
        "Wilson, E. B.",
        1927,
        "Probable inference, the law of succession, and statistical inference",
        "Journal of the American Statistical Association 22(158)",
        "209–212",
        short="Wilson",
    ),
    "hall1992": Reference(
        "Hall, P.",
        1992,
        "On the removal of skewness by transformation",
        "Journal of the Royal Statistical Society B 54(1)",
        "221–228",
        short="Hall",
    ),
    "bell2002": Reference(
        "Bell, R. M. and McCaffrey, D. F.",
        2002,
        "Bias reduction in standard errors for linear regression with multi-stage "
        "samples",
        "Survey Methodology 28(2)",
        "169–181",
        short="Bell & McCaffrey",
    ),
    "pustejovsky2018": Reference(
        "Pustejovsky, J. E. and Tipton, E.",
        2018,
        "Small-sample methods for cluster-robust variance estimation and hypothesis "
        "testing in fixed effects models",
        "Journal of Business & Economic Statistics 36(4)",
        "672–683",
        short="Pustejovsky & Tipton",
    ),
    "fieller1954": Reference(
        "Fieller, E. C.",
        1954,
        "Some problems in interval estimation",
        "Journal of the Royal Statistical Society B 16(2)",
        "175–185",
        short="Fieller",
    ),
    "zou2008": Reference(
        "Zou, G. Y. and Donner, A.",
        2008,
        "Construction of confidence limits about effect measures: a general approach",
        "Statistics in Medicine 27(10)",
        "1693–1702",
        short="Zou & Donner",
    ),
    "westfall1993": Reference(
        "Westfall, P. H. and Young, S. S.",
        1993,
        "Resampling-Based Multiple Testing",
        "Wiley",
        kind="book",
        short="Westfall & Young",
    ),
    "holm1979": Reference(
        "Holm, S.",
        1979,
        "A simple sequentially rejective multiple test procedure",
        "Scandinavian Journal of Statistics 6(2)",
        "65–70",
        short="Holm",
    ),
    "benjamini1995": Reference(
        "Benjamini, Y. and Hochberg, Y.",
        1995,
        "Controlling the false discovery rate: a practical and powerful approach to "
        "multiple testing",
        "Journal of the Royal Statistical Society B 57(1)",
        "289–300",
        short="Benjamini & Hochberg",
    ),
    "cochran1950": Reference(
        "Cochran, W. G.",
        1950,
        "The comparison of percentages in matched samples",
        "Biometrika 37(3)",
        "256–266",
        short="Cochran",
    ),
    "cochran1954": Reference(
        "Cochran, W. G.",
        1954,
        "The combination of estimates from different experiments",
        "Biometrics 10(1)",
        "101–129",
        short="Cochran",
    ),
    "satterthwaite1946": Reference(
        "Satterthwaite, F. E.",
        1946,
        "An approximate distribution of estimates of variance components",
        "Biometrics Bulletin 2(6)",
        "110–114",
        short="Satterthwaite",
    ),
    "shrout1979": Reference(
        "Shrout, P. E. and Fleiss, J. L.",
        1979,
        "Intraclass correlations: uses in assessing rater reliability",
        "Psychological Bulletin 86(2)",
        "420–428",
        short="Shrout & Fleiss",
    ),
    "chen2021": Reference(
        "Chen, M. et al.",
        2021,
        "Evaluating large language models trained on code",
        "arXiv:2107.03374",
        kind="misc",
        short="Chen et al.",
    ),
    "manski1990": Reference(
        "Manski, C. F.",
        1990,
        "Nonparametric bounds on treatment effects",
        "American Economic Review 80(2)",
        "319–323",
        short="Manski",
    ),
    "angelopoulos2023": Reference(
        "Angelopoulos, A. N., Bates, S., Fannjiang, C., Jordan, M. I. and Zrnic, T.",
        2023,
        "Prediction-powered inference",
        "Science 382(6671)",
        "669–674",
        short="Angelopoulos et al.",
    ),
    "miller2024": Reference(
        "Miller, E.",
        2024,
        "Adding error bars to evals: a statistical approach to language model "
        "evaluations",
        "arXiv:2411.00640",
        kind="misc",
        short="Miller",
    ),
}
