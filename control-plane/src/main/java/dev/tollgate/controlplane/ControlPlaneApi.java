package dev.tollgate.controlplane;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPEvent;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPResponse;
import dev.tollgate.controlplane.api.ControlPlaneRoutes;
import dev.tollgate.controlplane.api.ControlPlaneRoutes.Stores;
import dev.tollgate.http.Routes;
import java.time.InstantSource;
import java.util.Map;

/** The function of the control plane's HTTP API, by which operators manage tenants and tiers. */
public final class ControlPlaneApi
    implements RequestHandler<APIGatewayV2HTTPEvent, APIGatewayV2HTTPResponse> {
  private final Routes routes;

  /** The function as Lambda creates it. */
  public ControlPlaneApi() {
    this(System.getenv(), InstantSource.system());
  }

  /** The function with these environment variables and this clock. */
  public ControlPlaneApi(Map<String, String> environment, InstantSource clock) {
    this(new Wiring(environment, clock));
  }

  private ControlPlaneApi(Wiring wiring) {
    this(
        wiring.controlPlane(),
        new Stores(
            wiring.idempotencyKeys(),
            wiring.history(),
            wiring.auditLog(),
            wiring.admitAllSwitch(),
            wiring.alarms(),
            wiring.deadLetters(),
            wiring.auditNotes(),
            wiring.pushes(),
            wiring.pushQueue()));
  }

  ControlPlaneApi(ControlPlane controlPlane, Stores stores) {
    this.routes =
        ControlPlaneRoutes.of(
            controlPlane.ports(),
            controlPlane.lifecycle(),
            controlPlane.sessions(),
            controlPlane.catalog(),
            controlPlane.doctor(),
            stores,
            controlPlane.parallel(),
            controlPlane.author(),
            controlPlane.clock());
  }

  Routes routes() {
    return routes;
  }

  @Override
  public APIGatewayV2HTTPResponse handleRequest(APIGatewayV2HTTPEvent event, Context context) {
    return routes.answer(event, context);
  }
}
