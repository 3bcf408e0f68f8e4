"""Who a job is for."""

from corporeal.body.body import Body
from corporeal.formats.native import read_body
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.viewer.document import BodyChoice
from corporeal.viewer.person import shaped


def chosen_body(choice: BodyChoice, file: str | None) -> Body:
    """The body that was chosen; as its file has it, where it has grown or was scanned."""
    if file is not None:
        return read_body(file)
    model = PhenotypeModel()
    return Body(model.template, shaped(model, choice), {})
