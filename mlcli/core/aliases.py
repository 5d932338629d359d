"""Names that people type from other programs, and what they are called here: suggestions."""

from __future__ import annotations

from collections.abc import Iterator

METHODS = {
    "ada": "adaboost",
    "ann": "mlp",
    "bayes": "naive-bayes",
    "bayesnet": "bayes-net",
    "bernoullinb": "naive-bayes",
    "cart": "decision-tree",
    "categoricalnb": "naive-bayes",
    "catboost": "newton-boosting",
    "c45": "decision-tree",
    "conditionalrandomfield": "crf",
    "dt": "decision-tree",
    "dtree": "decision-tree",
    "dummy": "zero-r",
    "ecoc": "output-codes",
    "em": "gmm",
    "enet": "elastic-net",
    "et": "extra-trees",
    "extratrees": "extra-trees",
    "gaussianmixture": "gmm",
    "gaussiannb": "naive-bayes",
    "gb": "gradient-boosting",
    "gbdt": "gradient-boosting",
    "gbm": "gradient-boosting",
    "hierarchical": "agglomerative",
    "histgradientboosting": "newton-boosting",
    "ibk": "knn",
    "id3": "decision-tree",
    "iforest": "isolation-forest",
    "inversedistance": "knn-distance",
    "j48": "decision-tree",
    "kmeans": "k-means",
    "kneighbors": "knn",
    "kneighbours": "knn",
    "lightgbm": "newton-boosting",
    "lgbm": "newton-boosting",
    "lineardiscriminantanalysis": "lda",
    "linearsvc": "linear-svm",
    "linearsvr": "svm-regression",
    "lm": "linear-regression",
    "localoutlierfactor": "lof",
    "logisticregressioncv": "logistic-regression",
    "logit": "logistic-regression",
    "logreg": "logistic-regression",
    "lr": "logistic-regression",
    "majority": "zero-r",
    "maxent": "log-linear",
    "mixture": "gmm",
    "multilayerperceptron": "mlp",
    "multinomialnb": "naive-bayes",
    "nb": "naive-bayes",
    "nearestneighbors": "knn",
    "nearestneighbours": "knn",
    "neuralnetwork": "mlp",
    "nn": "mlp",
    "ocsvm": "one-class-svm",
    "ols": "linear-regression",
    "oner": "one-r",
    "onevsone": "one-against-one",
    "onevsrest": "one-against-rest",
    "outputcode": "output-codes",
    "ovo": "one-against-one",
    "ovr": "one-against-rest",
    "quadraticdiscriminantanalysis": "qda",
    "relativedensity": "lof",
    "rf": "random-forest",
    "randomforests": "random-forest",
    "sgd": "linear-svm",
    "smo": "svm",
    "softmax": "logistic-regression",
    "stump": "decision-tree",
    "supportvectormachine": "svm",
    "svc": "svm",
    "svr": "svm-regression",
    "tree": "decision-tree",
    "vote": "voting",
    "xgb": "newton-boosting",
    "xgboost": "newton-boosting",
    "zeror": "zero-r",
}
SETTINGS = {
    "c45": "algorithm=c45",
    "id3": "algorithm=id3",
    "j48": "algorithm=c45",
    "linearsvr": "kernel=linear",
    "stump": "max_depth=1",
}
"""What makes a method the one that another program calls so."""
PARAMETERS = {
    "alpha": ("l2", "l1", "strength"),
    "activation": ("activations",),
    "algorithm": ("search", "solver"),
    "baseestimator": ("base",),
    "batchsize": ("batch",),
    "c": ("C", "cost", "l2"),
    "eta": ("learning_rate",),
    "estimator": ("base",),
    "estimators": ("models",),
    "finalestimator": ("meta",),
    "fitintercept": ("intercept",),
    "hiddenlayersizes": ("hidden",),
    "lambda": ("l2", "l1"),
    "lr": ("learning_rate",),
    "maxfeatures": ("features", "column_share"),
    "maxiter": ("max_iterations", "rounds", "max_rounds", "epochs", "passes"),
    "maxleafnodes": ("max_leaves",),
    "maxsamples": ("row_share",),
    "metric": ("distance",),
    "minimpuritydecrease": ("min_gain",),
    "minsamplesleaf": ("min_leaf",),
    "minsamplessplit": ("min_split",),
    "nclusters": ("k",),
    "ncomponents": ("components", "k"),
    "nestimators": ("trees", "rounds", "bags"),
    "ninit": ("restarts",),
    "nneighbors": ("k",),
    "neighbors": ("k",),
    "neighbours": ("k",),
    "numleaves": ("max_leaves",),
    "numtrees": ("trees",),
    "p": ("distance",),
    "penalty": ("l2", "l1"),
    "reglambda": ("l2",),
    "shrinkage": ("learning_rate", "shrinkage"),
    "subsample": ("row_share",),
    "tol": ("tolerance",),
    "varsmoothing": ("zero_variance",),
    "voting": ("combine",),
}
METRICS = {
    "acc": "accuracy",
    "areaundercurve": "auc",
    "averageprecision": "pr-auc",
    "balancedacc": "balanced-accuracy",
    "crossentropy": "log-loss",
    "f1": "f1-macro",
    "f1score": "f1-macro",
    "logloss": "log-loss",
    "matthews": "mcc",
    "matthewscorrcoef": "mcc",
    "meanabsoluteerror": "mae",
    "meansquarederror": "mse",
    "neglogloss": "log-loss",
    "negmeansquarederror": "mse",
    "r2score": "r2",
    "rocauc": "auc",
    "rootmeansquarederror": "rmse",
    "rsquared": "r2",
}
OPTIONS = {
    "classifier": "--model",
    "cv": "--protocol",
    "folds": "--protocol",
    "label": "--target",
    "njobs": "--jobs",
    "randomstate": "--seed",
    "scoring": "--metric",
    "testsize": "--protocol",
    "y": "--target",
}
ENDINGS = ("classifier", "regressor", "clusterer", "cv")


def other_names(name: str) -> Iterator[str]:
    """What a name from another program may be called here, best first."""
    plain = _plain(name)
    for typed in dict.fromkeys((plain, without_ending(plain))):
        for table in (METHODS, METRICS, OPTIONS):
            if typed in table:
                yield table[typed]
        yield from PARAMETERS.get(typed, ())


def setting_for(name: str) -> str:
    """The parameter that makes the suggested method what was asked for; mostly there is none."""
    return SETTINGS.get(_plain(name), "")


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def without_ending(name: str) -> str:
    """The name without what scikit-learn puts behind it to say the kind of task."""
    return next((name.removesuffix(ending) for ending in ENDINGS if name.endswith(ending)), name)
