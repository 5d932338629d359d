"""The target that nobody names: what is guessed of tables as people have them, and what is said of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mlcli.core.errors import DataError
from mlcli.data.dataset import Dataset
from mlcli.data.load import load
from mlcli.data.shipped import shipped_paths

Loaded = Callable[..., Dataset]
ROWS = 60
CELLS = {
    "n": lambda rng: f"{rng.random() * 9:.3f}",
    "i": lambda rng: str(rng.integers(0, 99)),
    "k": lambda rng: str(rng.integers(0, 5)),
    "z": lambda rng: str(rng.integers(0, 2)),
    "b": lambda rng: rng.choice(["no", "yes"]),
    "c": lambda rng: rng.choice(list("abc")),
    "s": lambda rng: rng.choice(["train", "test"]),
    "t": lambda rng: f"text {rng.random()}",
}
"""Numbers, whole numbers, a few of these, 0 and 1, words, parts, and texts."""
TABLES = [
    ("Survived", "PassengerId:i Survived:z Pclass:k Name:t Sex:c Age:n Fare:n Cabin:t Embarked:c"),
    ("income", "age:i workclass:c education:c hours-per-week:i income:b"),
    ("income", "age:i income:b hours:i split:s"),
    ("income", "age:i income:b hours:i fold:k"),
    ("MedHouseVal", "MedInc:n HouseAge:n Population:i MedHouseVal:n Latitude:n Longitude:n"),
    (
        "median_house_value",
        "longitude:n latitude:n rooms:i median_income:n median_house_value:i ocean_proximity:c",
    ),
    ("price", "id:i date:t price:i bedrooms:k zipcode:i lat:n long:n sqft_living15:i sqft_lot15:i"),
    ("price", "carat:n cut:c color:c depth:n table:n price:i x:n y:n z:n"),
    ("price", "id:i host_id:i latitude:n longitude:n room_type:c price:i minimum_nights:i availability:i"),
    ("lettr", "lettr:c " + " ".join(f"a{place}:i" for place in range(16))),
    ("diagnosis", "id:i diagnosis:c radius_mean:n texture_mean:n fractal_dimension_worst:n"),
    ("class", "class:c cap-shape:c cap-surface:c habitat:c"),
    ("Exited", "CustomerId:i Surname:c CreditScore:i EstimatedSalary:n Exited:z"),
    ("SalePrice", "Id:i LotArea:i SaleType:c SaleCondition:c SalePrice:i"),
    ("charges", "age:i sex:c bmi:n smoker:b region:c charges:n"),
    ("y", "age:i job:c month:c day:i poutcome:c y:b"),
    ("default.payment.next.month", "ID:i LIMIT_BAL:i AGE:i default.payment.next.month:z"),
    ("Attrition", "Age:i Attrition:b MonthlyIncome:i YearsWithCurrManager:i"),
    ("Loan_Status", "Loan_ID:t ApplicantIncome:i CoapplicantIncome:i Property_Area:c Loan_Status:b"),
    ("mpg", "mpg:n cylinders:k displacement:n weight:i origin:k name:t"),
    ("species", "species:c island:c bill_length_mm:n body_mass_g:i sex:c year:i"),
    ("tip", "total_bill:n tip:n sex:c smoker:b day:c time:c size:k"),
    ("Category", "Dates:t Category:c DayOfWeek:c X:n Y:n"),
    ("label", "label:k " + " ".join(f"pixel{place}:i" for place in range(8))),
    ("area", "X:k Y:k month:c FFMC:n wind:n rain:n area:n"),
    ("class", "x:n y:n class:c"),
    ("z", "x:n y:n z:n"),
    ("y", "col:c lev:c x:n y:b"),
    ("y", "a:n x:n y:c"),
    ("Cover_Type", "Elevation:i Slope:i Soil_Type40:z Cover_Type:k"),
    ("Sales", "Store:k DayOfWeek:k Date:t Sales:i Customers:i Open:z StateHoliday:c"),
    ("rings", "sex:c length:n diameter:n height:n rings:i"),
    ("RainTomorrow", "Date:t Location:c MinTemp:n RainToday:b RainTomorrow:b"),
    ("DEATH_EVENT", "age:i anaemia:z diabetes:z ejection_fraction:i sex:z smoking:z time:i DEATH_EVENT:z"),
    ("AveragePrice", "Date:t AveragePrice:n 4046:n type:c year:i region:c"),
    ("is_canceled", "hotel:c is_canceled:z lead_time:i adr:n reservation_status:c reservation_status_date:t"),
    (
        "Attrition_Flag",
        "CLIENTNUM:i Attrition_Flag:b Customer_Age:i Income_Category:c Card_Category:c Credit_Limit:n",
    ),
    ("Life expectancy", "Country:t Year:i Life expectancy:n Adult Mortality:i Schooling:n"),
]
"""Tables that people know, with the column that they would name."""


def table_of(columns: str) -> str:
    """A file with such columns."""
    rng = np.random.default_rng(1)
    described = re.split(r"(?<=:[a-z]) ", columns)
    names, kinds = zip(*(column.rsplit(":", 1) for column in described), strict=True)
    rows = (",".join(CELLS[kind](rng) for kind in kinds) for _ in range(ROWS))
    return "\n".join([",".join(names), *rows]) + "\n"


@pytest.mark.parametrize(("meant", "columns"), TABLES, ids=[f"{name}-{at}" for at, (name, _) in enumerate(TABLES)])
def test_the_column_that_people_would_name_is_guessed(loaded: Loaded, meant: str, columns: str) -> None:
    dataset = loaded(table_of(columns))
    target = dataset.schema.the("target")
    assert target is not None
    assert target.name == meant
    assert any(f"the target was guessed: '{meant}'" in note for note in dataset.notes)


def test_without_their_sidecars_most_shipped_datasets_are_understood(tmp_path: Path) -> None:
    wrong = []
    for name, path in shipped_paths().items():
        declared = re.search(r"^target: *(\S+)", path.with_suffix(".yaml").read_text(), re.MULTILINE)
        lines = path.read_text(encoding="utf-8").splitlines()[:400]
        copy = tmp_path / f"{name}.csv"
        copy.write_text("\n".join(lines), encoding="utf-8")
        if declared is None or declared.group(1) in ("null", "[]"):
            continue
        target = load(str(copy)).schema.the("target")
        wrong += [name] if target is None or target.name != declared.group(1) else []
    assert set(wrong) <= {"olive", "housing_satisfaction"}  # whose targets stand first, under plain names


def test_a_guess_by_place_alone_is_in_doubt_and_names_the_likeliest_others(loaded: Loaded) -> None:
    dataset = loaded("v1,v2,v3,v4\n" + "".join(f"{row},{row * 7 % 11},{row}.5,{row}.25\n" for row in range(30)))
    assert dataset.doubt == "the target was guessed: 'v4', the last column; 'v3' or 'v2' may be meant"
    assert loaded("v1,income\n1,2.5\n2,3.5\n", target="v1").doubt == ""
    assert loaded("v1,income\n1,2.5\n2,3.5\n").doubt == ""


@pytest.mark.parametrize(
    ("guessed", "other", "columns"),
    [
        ("Class", "Satisfaction", "Satisfaction:b Gender:c Age:i Class:c Seat:k"),
        ("contact", "City", "Rent:i Size:i Area:c City:c contact:c"),
        ("passenger_count", "fare_amount", "fare_amount:n pickup_longitude:n pickup_latitude:n passenger_count:k"),
    ],
)
def test_of_columns_that_may_be_meant_as_well_none_is_sure(
    loaded: Loaded, guessed: str, other: str, columns: str
) -> None:
    dataset = loaded(table_of(columns))
    assert dataset.doubt.startswith(f"the target was guessed: '{guessed}'")
    assert f"'{other}'" in dataset.doubt


def test_a_target_of_a_great_many_classes_is_questioned(loaded: Loaded) -> None:
    dataset = loaded("a,word\n" + "".join(f"{row % 7},w{row % 150}\n" for row in range(400)))
    assert dataset.doubt == "the target 'word' has 150 classes in 400 rows"
    assert any("is it the one that you mean?" in note for note in dataset.notes)
    assert loaded("a,word\n" + "".join(f"{row % 7},w{row % 15}\n" for row in range(400))).doubt != dataset.doubt


def test_a_target_of_numbers_with_a_few_words_for_missing_stays_numeric(loaded: Loaded) -> None:
    rows = "".join(f"{row},{'n.a.' if row % 9 == 0 else row * 1.5}\n" for row in range(40))
    dataset = loaded("a,price\n" + rows)
    target = dataset.schema.the("target")
    assert target is not None
    assert (target.kind, dataset.unlabelled) == ("numeric", 5)
    assert any("'n.a.' in 5 cells of the target 'price' is taken as missing" in note for note in dataset.notes)
    declared = loaded("a,price\n" + rows, "target: price\ncolumns: {price: nominal}\n").schema.the("target")
    assert declared is not None
    assert declared.kind == "nominal"


def test_columns_are_dropped_and_never_guessed(loaded: Loaded) -> None:
    text = "a,b,class\n1,2,u\n2,3,v\n3,4,v\n4,5,u\n"
    dataset = loaded("a,b,c\n1,2.5,3\n2,3,4\n3,4,5\n4,5,7\n", drop=("c", "a"))
    assert [field.role for field in dataset.schema] == ["ignore", "target", "ignore"]
    with pytest.raises(DataError, match="'class' is the target, by its name, so it cannot be dropped"):
        loaded(text, drop=("class",))
    with pytest.raises(DataError, match="'b' is the target, so it cannot be dropped"):
        loaded(text, drop=("b",), target="b")


def test_the_positive_class_stands_last(loaded: Loaded) -> None:
    text = "a,class\n1,no\n2,yes\n3,no\n4,yes\n"
    dataset = loaded(text, positive="no")
    target = dataset.schema.the("target")
    assert target is not None
    assert target.levels == ("yes", "no")
    assert dataset.table.cells("class").tolist() == [1, 0, 1, 0]
    with pytest.raises(DataError, match="'nope', the positive class, is no level of 'class'"):
        loaded(text, positive="nope")
    with pytest.raises(DataError, match="'', the positive class, is no level"):
        loaded(text, positive="")
    assert loaded(text, positive="no", task="anomaly", target="class").schema.fields[1].column.levels == (
        "yes",
        "no",
    )
