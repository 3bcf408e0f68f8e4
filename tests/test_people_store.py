"""Stores of people: what survives, resuming, refusals; given persons; the verb."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from corporeal.anthropometry.definitions import DIMENSIONS, NAMES
from corporeal.cli.main import main
from corporeal.errors import InputError, OutputError
from corporeal.pipelines import people as pipeline
from corporeal.pipelines.people import GroupTask, PeopleConfig, make_people
from corporeal.pipelines.people_table import read_persons
from corporeal.population.people_store import (
    MEASURED,
    PeopleGroup,
    create_people,
    read_people,
    write_group,
)

TABLE = (
    "name,gender,age,stature,mass,waist\nanna,female,33,1.68,64,0.78\nben,male,61,1.75,96,1.08\n"
)


def group(names: tuple[str, ...], seed: int) -> PeopleGroup:
    """People of numbers, without bodies that could exist."""
    random = np.random.default_rng(seed)
    n = len(names)
    return PeopleGroup(
        names,
        ("female",) * n,
        random.uniform(18, 80, n),
        random.standard_normal((n, 7, 3)).astype(np.float32),
        random.standard_normal((n, 3, 3)).astype(np.float32),
        random.standard_normal((n, 2)),
        random.uniform(1, 2, (n, len(MEASURED))),
        random.uniform(1, 2, (n, len(NAMES))),
        random.uniform(1, 2, (n, 2)),
        np.zeros((n, 2), np.int64),
    )


def test_everything_survives_the_store(tmp_path):
    """Two groups, written in the wrong order, come back whole and in order."""
    store = create_people(tmp_path / "p.zarr", {"seed": 7}, ("gender", "age"), "abc", 3)
    first, second = group(("a", "b"), 1), group(("c",), 2)
    write_group(store, 1, second)
    write_group(store, 0, first)
    store.finish()
    people = read_people(tmp_path / "p.zarr")
    assert (people.count, people.seed, people.template_hash) == (3, 7, "abc")
    assert people.names == ("a", "b", "c")
    assert people.sex == ("female",) * 3
    assert np.array_equal(people.age, np.concatenate([first.ages, second.ages]))
    body = people.identity(1)
    assert np.array_equal(body.rest_vertices, first.rest_vertices[1])
    assert np.array_equal(body.joints, first.joints[1])
    assert float(body.parameters["age"]) == first.parameters[1, 1]
    assert people.measurements(2).stature == second.measurements[0, 0]
    assert people.composition(2).fat_mass == second.compositions[0, 0]
    assert np.array_equal(people.asked[2], second.asked[0])


def test_an_unfinished_store_is_refused(tmp_path):
    store = create_people(tmp_path / "p.zarr", {"seed": 7}, ("gender", "age"), "abc", 3)
    write_group(store, 0, group(("a", "b"), 1))
    with pytest.raises(InputError, match="not whole"):
        read_people(tmp_path / "p.zarr")


def test_a_store_with_too_few_people_is_refused(tmp_path):
    store = create_people(tmp_path / "p.zarr", {"seed": 7}, ("gender", "age"), "abc", 3)
    write_group(store, 0, group(("a", "b"), 1))
    store.finish()
    with pytest.raises(InputError, match="holds 2 people and promises 3"):
        _ = read_people(tmp_path / "p.zarr").count


def test_a_person_who_is_not_there_is_refused(tmp_path):
    store = create_people(tmp_path / "p.zarr", {"seed": 7}, ("gender", "age"), "abc", 1)
    write_group(store, 0, group(("a",), 1))
    store.finish()
    with pytest.raises(InputError, match="no person 1"):
        read_people(tmp_path / "p.zarr").identity(1)


def test_given_persons_become_bodies_and_a_rerun_makes_nothing(tmp_path, capsys):
    """Through the verb: stature and mass as the table says; the same line again skips all; another
    table into the same store is refused."""
    table, out = tmp_path / "two.csv", tmp_path / "two.zarr"
    table.write_text(TABLE)
    assert main(["people", "--from", str(table), "--out", str(out), "--jobs", "1", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["count"] == 2
    assert report["residuals"]["stature"]["largest"] < 2e-3
    people = read_people(out)
    assert people.names == ("anna", "ben")
    assert people.sex == ("female", "male")
    assert people.mass == pytest.approx([64, 96], abs=0.1)
    assert people.measurements(1)["waist_circumference"] == pytest.approx(1.08, rel=0.02)
    assert 10 < people.composition(0).fat_mass < 30
    again = make_people(PeopleConfig(out, table=table), workers=1)
    assert again.done == {}
    assert again.skipped == ["00000"]
    before = people.identity(1).rest_vertices
    for lost in (
        "finished",
        "groups/00000",
    ):  # as if it had been stopped before the group was whole
        shutil.rmtree(out / lost)
    assert make_people(PeopleConfig(out, table=table), workers=1).done == {"00000": 2}
    assert np.array_equal(read_people(out).identity(1).rest_vertices, before)
    table.write_text(TABLE.replace("1.68", "1.69"))
    with pytest.raises(OutputError, match="table_sha256"):
        make_people(PeopleConfig(out, table=table), workers=1)


def test_a_body_does_not_depend_on_how_many_are_made(tmp_path, monkeypatch):
    """Of a group of three, one or two are kept: the first is the same to the last bit."""
    monkeypatch.setattr(pipeline, "GROUP", 3)
    posed_vertices = []
    for count in (1, 2):
        config = PeopleConfig(tmp_path / f"{count}.zarr", count, seed=5, crowd="even")
        store = create_people(config.out, {"seed": 5}, ("gender",), "abc", count)
        assert pipeline.make_group(GroupTask(config.out, 0, count, config, None)) == count
        store.finish()
        assert store.part("groups", "00000").attributes["names"] == ["p00000", "p00001"][:count]
        part = store.part("groups", "00000")
        posed_vertices.append(part.array("rest_vertices", "f", (count, None, 3))[0])
    assert np.array_equal(posed_vertices[0], posed_vertices[1])


def test_a_file_of_the_survey_is_read_as_it_is(tmp_path):
    """Millimetres, tenths of a kilogram, the sex in its own column."""
    columns = [d.ansur for d in DIMENSIONS]
    row = ["800" if d.unit == "kg" else "1700" for d in DIMENSIONS]
    path = tmp_path / "survey.csv"
    header = ",".join([*columns, "Gender", "Age"])
    path.write_text(f"{header}\n{','.join(row)},Male,17\n")
    persons = read_persons(path)
    assert persons.sexes == ("male",)
    assert persons.ages.tolist() == [18.0]
    assert persons.dimensions[0, NAMES.index("mass")] == pytest.approx(80.0)
    assert persons.dimensions[0, NAMES.index("stature")] == pytest.approx(1.7)
    path.write_text(f"{header}\n{','.join(row)},Martian,17\n")
    with pytest.raises(InputError, match="martian"):
        read_persons(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name,gender,age,stature\na,female,30,1.7\n", "no mass"),
        ("name,gender,age,stature,mass\na,0.5,30,1.7,70\n", "female or male"),
        ("name,gender,age,stature,mass\na,female,12,1.7,70\n", "18 to 80"),
        ("name,gender,age,stature,mass\na,female,30,1.7,700\n", "out of range"),
        ("name,gender,age,stature,mass,split\na,female,30,1.7,70,both\n", "train, test or nothing"),
    ],
)
def test_persons_who_cannot_be_are_refused_by_name(tmp_path, text, words):
    path = tmp_path / "people.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=f"a: .*{words}"):
        read_persons(path)


def test_a_table_says_who_trains(tmp_path):
    """Train or test as the column says, train where it is empty or missing."""
    path = tmp_path / "people.csv"
    row = "female,30,1.7,70"
    path.write_text(f"name,gender,age,stature,mass,split\na,{row},test\nb,{row},\nc,{row},Train\n")
    persons = read_persons(path)
    assert persons.splits == ("test", "train", "train")
    assert persons.only(slice(0, 1)).splits == ("test",)
    path.write_text(f"name,gender,age,stature,mass\na,{row}\n")
    assert read_persons(path).splits == ("train",)


def test_nobody_is_refused(tmp_path):
    with pytest.raises(InputError, match="asked for 0 people"):
        make_people(PeopleConfig(Path(tmp_path / "p.zarr")))
