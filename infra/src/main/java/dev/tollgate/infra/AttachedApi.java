package dev.tollgate.infra;

import java.util.Optional;
import software.amazon.awscdk.services.apigatewayv2.IWebSocketApi;
import software.amazon.awscdk.services.apigatewayv2.IWebSocketStage;
import software.amazon.awscdk.services.lambda.IFunction;

/**
 * A WebSocket API of the application that Tollgate protects. Its routes, frames and clients stay as
 * they are. Tollgate authorizes {@code $connect}, and its functions stand before the application's
 * behind {@code $connect} and {@code $disconnect}:
 *
 * <pre>{@code
 * TollgateProps.builder().webSocketApi(AttachedApi.of(api, stage).connect(connect)).build()
 * }</pre>
 *
 * <p>If the API has these routes, add them before the Tollgate: their resources are changed in
 * place. Otherwise Tollgate adds them. The stage must deploy changes by itself ({@code
 * autoDeploy}).
 *
 * @param api the API, with a known endpoint; {@code $connect} must have no authorizer
 * @param stage the stage that clients connect to
 * @param tenants where a handshake names its tenant
 * @param connect the application's function for {@code $connect}, which may refuse an admitted
 *     connection with a status other than 2xx; empty if it has none
 * @param disconnect the application's function for {@code $disconnect}; empty if it has none
 */
public record AttachedApi(
    IWebSocketApi api,
    IWebSocketStage stage,
    TenantSource tenants,
    Optional<IFunction> connect,
    Optional<IFunction> disconnect) {

  /** An API whose handshakes have the query parameter {@code tenantId}. */
  public static AttachedApi of(IWebSocketApi api, IWebSocketStage stage) {
    return new AttachedApi(
        api,
        stage,
        new TenantSource.QueryParameters("tenantId", Optional.empty()),
        Optional.empty(),
        Optional.empty());
  }

  /** This API, whose handshakes name the tenant in another query parameter. */
  public AttachedApi tenantParameter(String name) {
    return tenants(new TenantSource.QueryParameters(name, Optional.empty()));
  }

  /** This API, whose handshakes name the tenant elsewhere. */
  public AttachedApi tenants(TenantSource source) {
    return new AttachedApi(api, stage, source, connect, disconnect);
  }

  /** This API with the application's function for {@code $connect}. */
  public AttachedApi connect(IFunction function) {
    return new AttachedApi(api, stage, tenants, Optional.of(function), disconnect);
  }

  /** This API with the application's function for {@code $disconnect}. */
  public AttachedApi disconnect(IFunction function) {
    return new AttachedApi(api, stage, tenants, connect, Optional.of(function));
  }
}
