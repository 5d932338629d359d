"""Names and quantities as users type them: suggestions for unknown names; durations and sizes with their units.

The tables of names from other programs and textbooks stand below the functions that look names up.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

LONGEST = 100
"""Longer names get no suggestion, since comparing them takes long; messages shorten them."""


def nearest(name: str, valid: Iterable[str]) -> str | None:
    """The most similar valid name, if one is similar."""
    return next(iter(likely_names(name, valid)), None)


def likely_names(name: str, valid: Iterable[str]) -> list[str]:
    """The valid names that may be meant: an alias, the only one that starts so, or the most similar ones."""
    if len(name) > LONGEST:
        return []
    valid_names = {_simplified(candidate): candidate for candidate in valid}
    simple = _simplified(name)
    aliases = map(_simplified, (simple, *other_names(name), without_ending(simple)))
    if alias := next((alias for alias in aliases if alias in valid_names), None):
        return [valid_names[alias]]
    longer = [valid_name for valid_name in valid_names if simple and valid_name.startswith(simple)]
    if len(longer) == 1:
        return [valid_names[longer[0]]]
    from difflib import SequenceMatcher, get_close_matches

    cutoff = 0.6 if len(simple) < 5 else 0.7  # one wrong letter is a larger part of a short name
    close = get_close_matches(simple, valid_names, n=3, cutoff=cutoff)
    similarity = {candidate: SequenceMatcher(None, candidate, simple).ratio() for candidate in close}
    return sorted(valid_names[candidate] for candidate in close if similarity[candidate] == similarity[close[0]])


def did_you_mean(name: str, valid: Iterable[str], what: str = "valid names") -> str:
    """A hint for an unknown name: the nearest ones, or the list of all."""
    names = sorted(valid)
    close = likely_names(name, names)
    if close:
        setting = SETTINGS.get(_letters_and_digits(name), "") if close == list(other_names(name)) else ""
        suggestions = " or ".join(f"'{candidate}'" for candidate in close)
        return f"did you mean {suggestions}{f' with {setting}' if setting else ''}?"
    return f"{what}: {listed(names, most=200)}" if names else f"there are no {what}"


def other_names(name: str) -> Iterator[str]:
    """What a name from another program may be called here, best first."""
    simple = _letters_and_digits(name)
    for candidate in dict.fromkeys((simple, without_ending(simple))):
        for table in BY_WORD:
            yield from table.get(candidate, ())


def without_ending(name: str) -> str:
    """The name without the ending that scikit-learn uses for the kind of task, and in the singular."""
    endings = ("classifier", "regressor", "clusterer", "cv", "s")
    return next((name.removesuffix(ending) for ending in endings if name.endswith(ending)), name)


def _simplified(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter not in "-_ ")


def _letters_and_digits(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum() or letter == "+")


def shortened(name: object) -> str:
    """A name as messages show it: only the beginning of a long one."""
    text = str(name)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def listed(names: Sequence[str], most: int = 8) -> str:
    """The first names, separated by commas, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def counted(count: int, noun: str, plural: str = "") -> str:
    """A count with its noun: 1 row, 2 rows."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def free_name(name: str, taken: Collection[str]) -> str:
    """The name itself, or if it is taken one with a number, such as "component 1 (2)"."""
    free, count = name, 2
    while free in taken:
        free, count = f"{name} ({count})", count + 1
    return free


def module_of(name: str) -> str:
    """The module name of a kebab-case id."""
    return name.replace("-", "_")


def id_of(module: str) -> str:
    """The kebab-case id of a module name."""
    return module.replace("_", "-")


METHODS = {
    "adaboost": "ada",
    "agglomerative": "hierarchical hierarchicalclustering singlelink singlelinkage",
    "bagging": "bootstrapaggregation bootstrapaggregating",
    "bayes-net": "bayesiannetwork bayesnet",
    "cblof": "cbof",
    "crf": "conditionalrandomfield",
    "decision-tree": "c45 cart classificationtree decisionstump dt dtree id3 informationgain j48 regressiontree"
    " stump tree",
    "elastic-net": "enet",
    "extra-trees": "et extratrees",
    "fp-growth": "apriori associationrules frequentitemsets",
    "gan-detector": "generativeadversarialnetwork",
    "gmm": "em expectationmaximisation expectationmaximization gaussianmixture mixture mixtureofgaussians",
    "gradient-boosting": "gb gbdt gbm gbr",
    "grubbs": "grubbstest",
    "hmm": "baumwelch hiddenmarkov hiddenmarkovmodel",
    "isolation-forest": "iforest",
    "k-means": "kmeans",
    "knn": "ibk knearestneighbor knearestneighbour kneighbors kneighbours nearestneighbor nearestneighbour",
    "knn-distance": "inversedistance",
    "lda": "fisher lineardiscriminantanalysis",
    "least-absolute": "lad leastabsolutedeviations",
    "linear-regression": "linear lm ols",
    "linear-svm": "linearsvc sgd",
    "lof": "localoutlierfactor relativedensity",
    "log-linear": "maxent maximumentropy",
    "logistic-regression": "logistic logisticregressioncv logit logreg lr multinomiallogisticregression softmax"
    " softmaxregression",
    "matrix-factorisation": "mf",
    "mds": "multidimensionalscaling",
    "memm": "maximumentropymarkovmodel",
    "mlp": "ann deeplearning dnn multilayerperceptron neuralnetwork nn",
    "mrf": "markovnetwork markovrandomfield",
    "naive-bayes": "bayes bernoullinb categoricalnb gaussiannaivebayes gaussiannb multinomialnb nb",
    "newton-boosting": "catboost histgradientboosting lightgbm lgbm xgb xgboost",
    "one-against-one": "onevsone ovo",
    "one-against-rest": "onevsrest ovr",
    "one-class-svm": "ocsvm",
    "one-r": "1r 1rule oner onerule",
    "output-codes": "ecoc outputcode",
    "pca": "principalcomponentanalysis principalcomponents singularvaluedecomposition svd",
    "perceptron": "perceptronlearningalgorithm pla",
    "qda": "quadraticdiscriminantanalysis",
    "random-forest": "forest randomforests randomtree rf",
    "rbf-network": "radialbasisfunction radialbasisfunctionnetwork rbf",
    "similarity": "kernelregression nadarayawatson similaritybasedmodel",
    "stacking": "stackedgeneralisation",
    "svdd": "supportvectordatadescription",
    "svm": "smo supportvectormachine svc",
    "svm-regression": "linearsvr svr",
    "t-sne": "tsne umap",
    "voting": "majorityvote majorityvoting vote",
    "zero-r": "0r dummy majority zeror",
}
STEPS = {
    "anova": "fvalue",
    "backward-elimination": "backward",
    "chi-square": "chi2",
    "class-weights": "balanced classweight",
    "correlation": "pearson",
    "discretise": "binning equalfrequency equalwidth kbinsdiscretizer",
    "embedded-selection": "embedded rfe selectfrommodel",
    "fair-weights": "reweighing reweighting",
    "forward-selection": "forward wrapper",
    "impute": "fillna imputation imputer missing simpleimputer",
    "k-means-code": "vectorquantisation",
    "landmarks": "kernelfeatures nystroem",
    "lda-projection": "fisher",
    "min-max": "minmaxscaler normalisation normalise normalization normalize",
    "mutual-information": "infogain informationgain",
    "one-hot": "dummies dummycoding dummyencoding encode onehotencoder onehotencoding",
    "ordinal": "integerencoder integerencoding labelencoder labelencoding ordinalencoder ordinalencoding"
    " rankencoding",
    "sample-rows": "downsample oversample resample undersample upsample",
    "signal-to-noise": "s2n snr",
    "standardise": "scale scaling standardisation standardization standardize standardscaler zscore",
    "threshold": "negativepart positivepart relu",
    "tree-embedding": "embedding randomtreesembedding",
    "winsorise": "clip winsorize",
}
SETTINGS = {
    "632": "estimate=.632",
    "c45": "algorithm=c45",
    "decisionstump": "max_depth=1",
    "downsample": "balance=down",
    "equalwidth": "by=equal-width",
    "id3": "algorithm=id3",
    "integerencoder": "columns=nominal",
    "integerencoding": "columns=nominal",
    "j48": "algorithm=c45",
    "labelencoder": "columns=nominal",
    "labelencoding": "columns=nominal",
    "linearsvr": "kernel=linear",
    "oversample": "balance=up",
    "randomtree": "trees=1",
    "singlelink": "linkage=single",
    "singlelinkage": "linkage=single",
    "stump": "max_depth=1",
    "svd": "by=svd",
    "undersample": "balance=down",
    "upsample": "balance=up",
}
"""The parameter that turns the suggested method, step or protocol into the one that was typed."""
PARAMETERS = {
    "C cost l2": "c",
    "activations": "activation",
    "base": "baseestimator estimator",
    "batch": "batchsize",
    "clusters k": "nclusters",
    "combine": "voting",
    "components k": "ncomponents",
    "decide": "epsilon threshold",
    "distance": "metric p",
    "feature": "column",
    "features column_share": "maxfeatures",
    "gamma width": "gamma",
    "hidden": "hiddenlayers hiddenlayersizes",
    "intercept": "fitintercept",
    "k neighbours": "nneighbors nneighbours neighbors neighbours",
    "k clusters components folds neighbours centres": "k",
    "l2": "reglambda",
    "l2 l1": "lambda penalty",
    "l2 l1 strength": "alpha",
    "learning_rate": "eta lr",
    "learning_rate shrinkage": "shrinkage",
    "max_depth": "depth",
    "max_iterations rounds max_rounds epochs passes": "maxiter",
    "max_leaves": "maxleafnodes numleaves",
    "meta": "finalestimator",
    "min_gain": "minimpuritydecrease",
    "min_leaf": "minsamplesleaf",
    "min_split": "minsamplessplit",
    "models": "estimators",
    "restarts": "ninit",
    "row_share": "maxsamples subsample",
    "search solver": "algorithm",
    "tolerance": "tol",
    "trees": "numtrees",
    "trees rounds bags": "nestimators",
    "zero_variance": "varsmoothing",
}
METRICS = {
    "accuracy": "acc",
    "auc": "areaundercurve auroc roc rocauc",
    "balanced-accuracy": "balancedacc",
    "bcss": "betweenclustersumofsquares wbss",
    "bias": "meansignederror",
    "calinski-harabasz": "ch varianceratio varianceratiocriterion",
    "demographic-parity": "groupfairness statisticalparity",
    "error-rate": "01loss errors misclassification sampleerror zerooneloss",
    "f1-macro": "f1 f1score fmeasure fscore",
    "fnr": "falsenegativerate",
    "fpr": "falsepositiverate",
    "log-loss": "crossentropy logisticloss logloss negativeloglikelihood neglogloss nll",
    "mae": "meanabsoluteerror",
    "mcc": "matthews matthewscorrcoef",
    "mse": "meansquarederror negmeansquarederror",
    "pr-auc": "averageprecision",
    "precision": "positivepredictivevalue ppv",
    "r2": "r2score rsquared",
    "recall": "sensitivity tpr truepositiverate",
    "rmse": "rootmeansquarederror",
    "specificity": "tnr truenegativerate",
    "sse": "residualsumofsquares rss ssr sumofsquarederrors",
    "wcss": "inertia withinclustersumofsquares",
}
TASKS = {
    "anomaly": "fraud novelty outlier outlierdetection outliers",
    "association": "apriori basket marketbasket rules",
    "classification": "binary binaryclassification categorical classify multiclass supervised",
    "clustering": "cluster segmentation unsupervised",
    "density": "densityestimation",
    "projection": "dimensionalityreduction embedding reduction",
    "ranking": "learningtorank",
    "recommendation": "collaborativefiltering recommender",
    "regression": "continuous numeric predict regress",
    "sequence-labelling": "ner tagging",
}
PROTOCOLS = {
    "bootstrap": "632 bootstrapping",
    "forward-chaining": "timeseries timeseriessplit walkforward",
    "given": "predefinedsplit",
    "holdout": "split traintest traintestsplit",
    "k-fold": "crossval crossvalidation cv kfoldcrossvalidation kfolds simplekfolds",
    "leave-groups-out": "groupkfold logo",
    "leave-one-out": "loo loocv",
    "repeated-holdout": "montecarlo randomsubsampling repeatedrandomholdout shufflesplit",
    "stratified-holdout": "stratification",
    "stratified-k-fold": "stratifiedcrossvalidation",
    "train-validation-test": "trainvalidationtest validation",
    "whole": "resubstitution train",
}
CURVES = {
    "learning": "learningcurve trainingsize",
    "stages": "iteration iterations",
    "validation": "complexity modelcomplexity",
}
VALUES = {
    "absolute": "lad mae",
    "alpha": "addone laplace",
    "closed-form": "analytic normalequation onestep pseudoinverse",
    "complete": "completelinkage maximum",
    "cross-entropy entropy": "deviance",
    "entropy cross-entropy": "logloss",
    "entropy": "gain informationgain",
    "euclidean squared": "l2",
    "full": "multivariate",
    "gaussian": "radial radialbasisfunction rbf",
    "identity": "linearunit",
    "inverse": "distance inversedistance",
    "inverse-linear": "inverselineardistance",
    "k-means-plus-plus": "kmeans++",
    "l-bfgs": "lbfgs",
    "laplacian gaussian": "exponential",
    "linear": "linearclassifier linearregression",
    "manhattan absolute": "l1",
    "manhattan": "cityblock",
    "most-frequent": "mode",
    "newton": "newtoncg newtoncholesky",
    "none": "maximumlikelihood mle",
    "normal": "probit",
    "one-against-one": "ovo",
    "one-against-rest": "onevsall onevsrest ovr",
    "polynomial": "poly",
    "random-points random-assignment": "random",
    "sgd": "backpropagation",
    "sigmoid": "logistic",
    "single": "minimum",
    "softmax": "multinomial",
    "squared": "squarederror",
    "squared-error squared": "mse rss sse ssr",
    "uniform": "headcount",
    "uniform votes": "majority",
    "votes": "majorityvote",
}
"""Values of parameters."""
BY_WORD: tuple[dict[str, list[str]], ...] = tuple(
    {word: names.split() for names, words in table.items() for word in words.split()}
    for table in (METHODS, STEPS, METRICS, TASKS, PROTOCOLS, PARAMETERS, CURVES, VALUES)
)
"""By the name in another program, in lower-case letters and digits: the names here, the likeliest first."""
METHODS_OF_KINDS = {
    "regression": {
        "decision-tree": "one-r",
        "gradient-boosting": "adaboost",
        "linear-regression": "lda linear-classifier logistic-regression naive-bayes perceptron qda",
        "svm-regression": "linear-svm svm",
    },
    "classification": {
        "logistic-regression": "elastic-net lasso least-absolute linear-regression ridge",
        "svm": "kernel-ridge one-class-svm svm-regression",
    },
    "anomaly": {"one-class-svm": "svm"},
}
"""For each kind of task, its methods and the methods of other kinds that they are the counterpart of."""


SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
BYTES = {"B": 1} | {f"{power}B": 1000**n for n, power in enumerate("KMGT", 1)}
BYTES |= {f"{power}iB": 1024**n for n, power in enumerate("KMGT", 1)}
BYTES_BY_WORD = {unit.casefold(): size for unit, size in BYTES.items()}
PART = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z]+)\s*", re.IGNORECASE)
DURATION, SIZE = "a duration such as 60s, 15m or 2h", "a size such as 500MB or 4GiB"


def seconds_in(written: object) -> float | None:
    """The seconds of a duration; a number without a unit is in seconds. None if it is no duration above 0."""
    return _quantity(written, SECONDS)


def bytes_in(written: object) -> int | None:
    """The bytes of a size, which needs a unit; None if it is no size above 0."""
    size = _quantity(written, BYTES_BY_WORD) if isinstance(written, str) else None
    return None if size is None or size < 1 else int(size)


def _quantity(written: object, units: Mapping[str, float]) -> float | None:
    total = written if isinstance(written, int | float) and not isinstance(written, bool) else None
    if isinstance(written, str):
        total = number_in(written) if units is SECONDS else None
        total = _sum_of_parts(written, units) if total is None else total
    return float(total) if total is not None and 0 < total < math.inf else None


def number_in(text: str) -> float | None:
    """The number in a text; None if it is no number."""
    try:
        return float(text)
    except ValueError:
        return None


def _sum_of_parts(text: str, units: Mapping[str, float]) -> float | None:
    """The sum of the numbers times their units."""
    parts = [(float(number), unit.casefold()) for number, unit in PART.findall(text)]
    if not parts or PART.sub("", text) or not all(unit in units for _, unit in parts):
        return None
    return sum(number * units[unit] for number, unit in parts)


def duration(seconds: float) -> str:
    """Seconds in a suitable unit; from a minute on, in two units."""
    if seconds < 60:
        return f"{seconds:.3g} s" if seconds >= 1 or not seconds else f"{1000 * seconds:.3g} ms"
    for unit, lower, size in (("d", "h", 86400), ("h", "min", 3600), ("min", "s", 60)):
        if seconds >= size:
            whole, rest = divmod(round(seconds), size)
            rest //= {"h": 3600, "min": 60, "s": 1}[lower]
            return f"{whole} {unit}" + (f" {rest:02d} {lower}" if rest else "")
    raise AssertionError(seconds)


def size(count: float) -> str:
    """Bytes in a suitable unit."""
    for unit in ("TiB", "GiB", "MiB", "KiB"):
        if count >= BYTES[unit]:
            return f"{count / BYTES[unit]:.3g} {unit}"
    return f"{count:.0f} B"
