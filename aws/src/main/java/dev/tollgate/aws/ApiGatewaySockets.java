package dev.tollgate.aws;

import static dev.tollgate.aws.Asking.ask;

import dev.tollgate.core.session.Sockets;
import software.amazon.awssdk.services.apigatewaymanagementapi.ApiGatewayManagementApiClient;
import software.amazon.awssdk.services.apigatewaymanagementapi.model.GoneException;

/** The sockets of an API Gateway WebSocket API. */
final class ApiGatewaySockets implements Sockets {
  private final ApiGatewayManagementApiClient connections;

  ApiGatewaySockets(ApiGatewayManagementApiClient connections) {
    this.connections = connections;
  }

  @Override
  public void close(String connectionId) {
    ask(
        "API Gateway DeleteConnection",
        () -> {
          try {
            return connections.deleteConnection(request -> request.connectionId(connectionId));
          } catch (GoneException gone) {
            return gone;
          }
        });
  }
}
