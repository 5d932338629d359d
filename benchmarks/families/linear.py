"""Linear methods beside scikit-learn's.

An intercept, no checks of assumptions and, for ridge, an l2 of 1 on both sides. Scikit-learn's ridge factors the
normal equations, as it does by default; its iterative solvers stop at a tolerance of 1e-4 and are not compared.
Lasso goes along the path and chooses on it by Akaike's criterion on both sides. The hinge is minimised by
LIBSVM, whose intercept is free as ours is, both with c = 1 to their own proof of the minimum; the perceptron
goes through the rows 20 times in their order; least absolute errors are a linear programme of HiGHS.
"""

from benchmarks.pair import Pair

LIMITS = """Of the time that least squares takes on `concrete` no call has more than a tenth: they are some
hundred small calls of NumPy, checks of sizes and of near copies of columns among them. Of lasso on 2,000 × 500
most is the path below the strength that is chosen, where nearly all columns are in. The perceptron draws an order
of rows for each pass, and finds the sharpness of its scores, which the peer does not."""

PAIRS = (
    Pair("linear-regression", "regression", "sklearn.linear_model:LinearRegression", {"checks": False}),
    Pair("ridge", "regression", "sklearn.linear_model:Ridge", {"l2": 1.0}, {"alpha": 1.0}),
    Pair("lasso", "regression", "sklearn.linear_model:LassoLarsIC"),
    Pair(
        "least-absolute",
        "regression",
        "sklearn.linear_model:QuantileRegressor",
        {},
        {"alpha": 0.0, "solver": "highs"},
    ),
    Pair("linear-svm", "classification", "sklearn.svm:SVC", {}, {"kernel": "linear"}),
    Pair(
        "perceptron",
        "classification",
        "sklearn.linear_model:Perceptron",
        {"order": "given", "max_passes": 20},
        {"shuffle": False, "max_iter": 20, "tol": None},
    ),
)
