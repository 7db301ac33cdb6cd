package dev.tollgate.e2e.models;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.e2e.models.ServiceModel.Operation;
import dev.tollgate.local.endpoint.Exchange;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Smithy RPC v2 CBOR: the operation is in the path. The local cloud reports bodies as JSON.
 *
 * @see <a href="https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2.html">Smithy RPC v2
 *     CBOR</a>
 */
record RpcCbor(ServiceModel model) implements ServiceModels.Protocol {
  @Override
  public Optional<Operation> operation(Exchange exchange) {
    String path = exchange.target();
    return model.operation(path.substring(path.lastIndexOf('/') + 1));
  }

  @Override
  public ObjectNode request(Exchange exchange, Operation operation, List<Violation> violations) {
    return ServiceModels.object("body", exchange.call().body(), violations);
  }

  @Override
  public ObjectNode answer(Exchange exchange, Operation operation, List<Violation> violations) {
    return ServiceModels.object("body", exchange.answer().orElse(""), violations);
  }

  @Override
  public String error(Exchange exchange) {
    return ServiceModels.object("body", exchange.answer().orElse(""), new ArrayList<>())
        .path("__type")
        .asText();
  }
}
