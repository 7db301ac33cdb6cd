package dev.tollgate.aws.gateway;

import static dev.tollgate.aws.SdkCalls.ask;

import dev.tollgate.core.session.Sockets;
import java.util.regex.Pattern;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.apigatewaymanagementapi.ApiGatewayManagementApiClient;
import software.amazon.awssdk.services.apigatewaymanagementapi.model.GoneException;

/**
 * The sockets of an API Gateway WebSocket API. An id that API Gateway gives nobody is of no socket:
 * to ask for it would end in an error each time, and whoever follows a record that names it would
 * never come past that.
 */
public final class ApiGatewaySockets implements Sockets {
  /** Base64 for URLs, as all ids of API Gateway, such as {@code L0SM9cOFvHcCIhw=}. */
  private static final Pattern ID = Pattern.compile("[A-Za-z0-9_=-]{1,128}");

  private final ApiGatewayManagementApiClient connections;
  private final ApiGatewayManagementApiClient posts;

  /**
   * The sockets that these clients reach.
   *
   * @param posts sends no frame twice
   */
  public ApiGatewaySockets(
      ApiGatewayManagementApiClient connections, ApiGatewayManagementApiClient posts) {
    this.connections = connections;
    this.posts = posts;
  }

  @Override
  public CloseResult close(String connectionId) {
    if (isNoId(connectionId)) {
      return CloseResult.GONE;
    }
    return ask(
        "API Gateway DeleteConnection",
        () -> {
          try {
            connections.deleteConnection(request -> request.connectionId(connectionId));
            return CloseResult.CLOSED;
          } catch (GoneException gone) {
            return CloseResult.GONE;
          }
        });
  }

  @Override
  public boolean isOpen(String connectionId) {
    if (isNoId(connectionId)) {
      return false;
    }
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
  public PostResult post(String connectionId, String frame) {
    if (isNoId(connectionId)) {
      return PostResult.GONE;
    }
    return ask(
        "API Gateway PostToConnection",
        () -> {
          try {
            posts.postToConnection(
                request -> request.connectionId(connectionId).data(SdkBytes.fromUtf8String(frame)));
            return PostResult.SENT;
          } catch (GoneException gone) {
            return PostResult.GONE;
          }
        });
  }

  private static boolean isNoId(String text) {
    return !ID.matcher(text).matches();
  }
}
