"""Boosted trees of 10 rounds and 31 leaves beside LightGBM, XGBoost and scikit-learn, on one thread."""

from benchmarks.pair import Pair

OURS = {"rounds": 10, "max_leaves": 31, "learning_rate": 0.1}
LIGHTGBM = {"n_estimators": 10, "num_leaves": 31, "learning_rate": 0.1, "n_jobs": 1, "verbose": -1}
XGBOOST = {
    "n_estimators": 10,
    "max_leaves": 31,
    "max_depth": 0,
    "grow_policy": "lossguide",
    "learning_rate": 0.1,
    "n_jobs": 1,
}
HISTOGRAMS = {"max_iter": 10, "max_leaf_nodes": 31, "learning_rate": 0.1, "early_stopping": False}
FEW = {"rounds": 10, "max_depth": 3, "learning_rate": 0.1}
CLASSIC = {"n_estimators": 10, "max_depth": 3, "learning_rate": 0.1}

PAIRS = (
    Pair("newton-boosting", "classification", "lightgbm:LGBMClassifier", OURS, LIGHTGBM),
    Pair("newton-boosting", "regression", "lightgbm:LGBMRegressor", OURS, LIGHTGBM),
    Pair("newton-boosting", "classification", "xgboost:XGBClassifier", OURS, XGBOOST),
    Pair("newton-boosting", "classification", "sklearn.ensemble:HistGradientBoostingClassifier", OURS, HISTOGRAMS),
    Pair("newton-boosting", "regression", "sklearn.ensemble:HistGradientBoostingRegressor", OURS, HISTOGRAMS),
    Pair("gradient-boosting", "classification", "sklearn.ensemble:GradientBoostingClassifier", FEW, CLASSIC),
    Pair("gradient-boosting", "regression", "sklearn.ensemble:GradientBoostingRegressor", FEW, CLASSIC),
)
