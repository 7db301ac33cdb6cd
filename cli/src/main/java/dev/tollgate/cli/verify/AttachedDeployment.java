package dev.tollgate.cli.verify;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.http.Response;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

/**
 * A deployment whose WebSocket API is the application's own. Its clients create no sessions, and
 * name their tenant in the query of the handshake.
 */
public final class AttachedDeployment implements Deployment {
  /** Stands for the tenant's id in the query. */
  private static final String TENANT = "TENANT";

  /** Stands for a token of the tenant in the query. */
  private static final String TOKEN = "TOKEN";

  private final HttpDeployment deployment;
  private final String query;
  private final UnaryOperator<String> token;

  /**
   * A deployment.
   *
   * @param query the query of each handshake, such as {@code workspace=TENANT&user=verify}
   * @param token a token of a tenant, asked for if the query has {@code TOKEN}
   */
  public AttachedDeployment(HttpDeployment deployment, String query, UnaryOperator<String> token) {
    this.deployment = deployment;
    this.query = query;
    this.token = token;
  }

  /** Whether a text is such a query: whether it names the tenant. */
  public static boolean isQuery(String text) {
    return text.matches("[!-~&&[^#?]]+") && (text.contains(TENANT) || text.contains(TOKEN));
  }

  /** Whether the query of handshakes has a token. */
  public static boolean needsToken(String query) {
    return query.contains(TOKEN);
  }

  @Override
  public boolean isAttached() {
    return true;
  }

  @Override
  public Response control(
      String method, String path, Optional<JsonNode> body, Map<String, String> headers) {
    return deployment.control(method, path, body, headers);
  }

  @Override
  public Response sessions(String method, String tenantId, Optional<String> sessionId) {
    throw new IllegalStateException("an attached API has no session API");
  }

  @Override
  public CompletableFuture<Handshake> handshake(Map<String, String> parameters, Listener listener) {
    return deployment.handshake(
        Optional.ofNullable(parameters.get("tenantId")).map(this::query).orElse(""), listener);
  }

  private String query(String tenant) {
    String named = query.replace(TENANT, tenant);
    return needsToken(named)
        ? named.replace(TOKEN, URLEncoder.encode(token.apply(tenant), StandardCharsets.UTF_8))
        : named;
  }
}
