package dev.tollgate.aws;

import static dev.tollgate.aws.Asking.ask;

import dev.tollgate.core.session.Sockets;
import software.amazon.awssdk.core.SdkBytes;
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

  @Override
  public boolean isOpen(String connectionId) {
    return ask(
        "API Gateway GetConnection",
        () -> {
          try {
            connections.getConnection(request -> request.connectionId(connectionId));
            return true;
          } catch (GoneException gone) {
            return false;
          }
        });
  }

  @Override
  public Posted post(String connectionId, String frame) {
    return ask(
        "API Gateway PostToConnection",
        () -> {
          try {
            connections.postToConnection(
                request -> request.connectionId(connectionId).data(SdkBytes.fromUtf8String(frame)));
            return Posted.SENT;
          } catch (GoneException gone) {
            return Posted.GONE;
          }
        });
  }
}
