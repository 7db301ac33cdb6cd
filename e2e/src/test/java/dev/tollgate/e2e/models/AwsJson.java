package dev.tollgate.e2e.models;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.e2e.models.ServiceModel.Operation;
import dev.tollgate.local.endpoint.Exchange;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The JSON protocol: the operation is in a header, and all members are in the body.
 *
 * @see <a href="https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html">AWS JSON 1.0
 *     protocol</a>
 */
record AwsJson(ServiceModel model) implements ServiceModels.Protocol {
  @Override
  public Optional<Operation> operation(Exchange exchange) {
    String target = exchange.headers().getOrDefault("X-Amz-Target", "");
    return model.operation(target.substring(target.indexOf('.') + 1));
  }

  @Override
  public ObjectNode request(Exchange exchange, Operation operation, List<Violation> violations) {
    String type = exchange.headers().getOrDefault("Content-Type", "");
    String expected = "application/x-amz-json-" + model.property("jsonVersion");
    if (!type.equals(expected)) {
      violations.add(new Violation("Content-Type", type, expected));
    }
    return ServiceModels.object("body", exchange.call().body(), violations);
  }

  @Override
  public ObjectNode answer(Exchange exchange, Operation operation, List<Violation> violations) {
    String body = exchange.answer().orElse("");
    if (body.isEmpty() && operation.output().isEmpty()) {
      body = "{}"; // SQS sends nothing where there is nothing to say.
    }
    return ServiceModels.object("body", body, violations);
  }

  @Override
  public String error(Exchange exchange) {
    String type =
        ServiceModels.object("body", exchange.answer().orElse(""), new ArrayList<>())
            .path("__type")
            .asText();
    return type.substring(type.indexOf('#') + 1);
  }
}
