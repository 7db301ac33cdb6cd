package dev.tollgate.aws.gateway;

import static dev.tollgate.aws.SdkCalls.askUnless;

import dev.tollgate.core.session.Sockets;
import java.util.regex.Pattern;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.apigatewaymanagementapi.ApiGatewayManagementApiClient;
import software.amazon.awssdk.services.apigatewaymanagementapi.model.GoneException;

/**
 * The sockets of an API Gateway WebSocket API. A malformed connection id counts as closed. API
 * Gateway rejects requests for it, so a bad record would otherwise block the stream for ever.
 */
public final class ApiGatewaySockets implements Sockets {
  /** The form of API Gateway's connection ids: base64url, such as {@code L0SM9cOFvHcCIhw=}. */
  private static final Pattern ID = Pattern.compile("[A-Za-z0-9_=-]{1,128}");

  private final ApiGatewayManagementApiClient connections;
  private final ApiGatewayManagementApiClient posts;

  /**
   * The sockets that these clients reach.
   *
   * @param posts never repeats a request, so it sends no frame twice
   */
  public ApiGatewaySockets(
      ApiGatewayManagementApiClient connections, ApiGatewayManagementApiClient posts) {
    this.connections = connections;
    this.posts = posts;
  }

  @Override
  public CloseResult close(String connectionId) {
    if (isMalformed(connectionId)) {
      return CloseResult.GONE;
    }
    return askUnless(
            "API Gateway DeleteConnection",
            GoneException.class,
            () -> connections.deleteConnection(request -> request.connectionId(connectionId)))
        .map(closed -> CloseResult.CLOSED)
        .orElse(CloseResult.GONE);
  }

  @Override
  public boolean isOpen(String connectionId) {
    if (isMalformed(connectionId)) {
      return false;
    }
    return askUnless(
            "API Gateway GetConnection",
            GoneException.class,
            () -> connections.getConnection(request -> request.connectionId(connectionId)))
        .isPresent();
  }

  @Override
  public PostResult post(String connectionId, String frame) {
    if (isMalformed(connectionId)) {
      return PostResult.GONE;
    }
    return askUnless(
            "API Gateway PostToConnection",
            GoneException.class,
            () ->
                posts.postToConnection(
                    request ->
                        request.connectionId(connectionId).data(SdkBytes.fromUtf8String(frame))))
        .map(sent -> PostResult.SENT)
        .orElse(PostResult.GONE);
  }

  private static boolean isMalformed(String connectionId) {
    return !ID.matcher(connectionId).matches();
  }
}
