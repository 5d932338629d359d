"""Boosted trees beside LightGBM, XGBoost and scikit-learn, on one thread.

Newton: 10 rounds of at most 31 leaves, learning rate 0.1, l2 1, at most 255 bins, one for each value where
there are fewer, no early stopping. A leaf holds at least 20 rows (LightGBM estimates them from the hessian),
beside XGBoost, which has no such limit, at least 1; its summed hessian is at least 0.001. LightGBM chooses
between rows and columns by itself: forcing either changes its time by less than a tenth. First-order, beside
scikit-learn's exact search: 5 rounds of depth 3 and leaves of at least 1 row; ours on at most 255 bins. Of
three classes LightGBM takes the curvature 1.5 times, XGBoost twice as large as it is, so that 10 rounds take
them less far.
"""

from benchmarks.pair import Pair

OURS = {"rounds": 10, "max_leaves": 31, "learning_rate": 0.1, "l2": 1.0, "bins": 255, "min_leaf": 20}
LIGHTGBM = {
    "n_estimators": 10,
    "num_leaves": 31,
    "learning_rate": 0.1,
    "reg_lambda": 1.0,
    "max_bin": 255,
    "min_data_in_bin": 1,
    "min_child_samples": 20,
    "n_jobs": 1,
    "verbose": -1,
}
XGBOOST = {
    "n_estimators": 10,
    "max_leaves": 31,
    "max_depth": 0,
    "grow_policy": "lossguide",
    "tree_method": "hist",
    "learning_rate": 0.1,
    "reg_lambda": 1.0,
    "max_bin": 255,
    "min_child_weight": 0.001,
    "n_jobs": 1,
}
SMALL_LEAVES = {**OURS, "min_leaf": 1}
HISTOGRAMS = {
    "max_iter": 10,
    "max_leaf_nodes": 31,
    "learning_rate": 0.1,
    "l2_regularization": 1.0,
    "max_bins": 255,
    "min_samples_leaf": 20,
    "early_stopping": False,
}
FEW = {"rounds": 5, "max_depth": 3, "learning_rate": 0.1, "min_leaf": 1}
CLASSIC = {"n_estimators": 5, "max_depth": 3, "learning_rate": 0.1, "min_samples_leaf": 1}

PAIRS = (
    Pair("newton-boosting", "classification", "lightgbm:LGBMClassifier", OURS, LIGHTGBM),
    Pair("newton-boosting", "regression", "lightgbm:LGBMRegressor", OURS, LIGHTGBM),
    Pair("newton-boosting", "classification", "xgboost:XGBClassifier", SMALL_LEAVES, XGBOOST),
    Pair("newton-boosting", "classification", "sklearn.ensemble:HistGradientBoostingClassifier", OURS, HISTOGRAMS),
    Pair("newton-boosting", "regression", "sklearn.ensemble:HistGradientBoostingRegressor", OURS, HISTOGRAMS),
    Pair("gradient-boosting", "classification", "sklearn.ensemble:GradientBoostingClassifier", FEW, CLASSIC),
    Pair("gradient-boosting", "regression", "sklearn.ensemble:GradientBoostingRegressor", FEW, CLASSIC),
)
