"""Who a job is for."""

from corporeal.body.body import Body
from corporeal.formats.layers import read_layers
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.viewer.document import BodyChoice
from corporeal.viewer.person import shaped


def chosen_body(choice: BodyChoice, layers: str | None) -> Body:
    """The body that was chosen; as its layers file has it, where it has grown."""
    if layers is not None:
        return read_layers(layers).body
    model = PhenotypeModel()
    return Body(model.template, shaped(model, choice), {})
