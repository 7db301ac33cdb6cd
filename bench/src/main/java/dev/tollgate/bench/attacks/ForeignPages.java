package dev.tollgate.bench.attacks;

import dev.tollgate.bench.Measurement;
import dev.tollgate.bench.Row;
import dev.tollgate.bench.Stopwatch;
import dev.tollgate.bench.client.Deployment;
import dev.tollgate.bench.client.RawRequest;
import dev.tollgate.bench.client.Session;
import dev.tollgate.bench.client.Tenant;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * Sends the requests that a page of another site can cause: with the page's own host name, which
 * resolves to this machine (DNS rebinding), and cross-origin without a preflight request.
 */
final class ForeignPages implements Measurement {
  private static final String HOST = "evil.example";
  private static final String ORIGIN = "http://evil.example";
  private static final String PLAIN = "text/plain";

  @Override
  public Duration timeout() {
    return Duration.ofMinutes(2);
  }

  @Override
  public List<Row> measure(Deployment deployment, Stopwatch stopwatch) throws InterruptedException {
    Tenant tenant = deployment.tenant("pages", "bronze");
    Session session = tenant.newSession();
    URI tenants = URI.create(deployment.output("ControlPlaneURL") + "/tenants");
    URI repairs = URI.create(deployment.output("ControlPlaneURL") + "/repairs?dryRun=true");
    String own = tenants.getAuthority();
    Map<String, String> rebound = Map.of("Host", HOST + ":" + tenants.getPort());
    Map<String, String> crossSite = Map.of("Host", own, "Origin", ORIGIN, "Content-Type", PLAIN);
    Map<String, String> silent = Map.of("Host", own, "Content-Type", PLAIN);
    return List.of(
        new Row(
            "DNS rebinding: the local control plane with a foreign `Host`",
            "lists, creates and deletes tenants",
            "list %d, create %d, delete %d; a handshake %d"
                .formatted(
                    new RawRequest("GET", tenants, rebound, "").status(),
                    new RawRequest("POST", tenants, json(rebound), "{}").status(),
                    new RawRequest("DELETE", tenant.address(), rebound, "").status(),
                    RawRequest.handshake(session.socketAddress(), rebound).status()),
            "421"),
        new Row(
            "another site's page, without a preflight request",
            "`text/plain` posts repair",
            "repair %d, repair without `Origin` %d, create %d; a handshake %d"
                .formatted(
                    new RawRequest("POST", repairs, crossSite, "").status(),
                    new RawRequest("POST", repairs, silent, "").status(),
                    new RawRequest("POST", tenants, crossSite, "{}").status(),
                    RawRequest.handshake(
                            session.socketAddress(), Map.of("Host", own, "Origin", ORIGIN))
                        .status()),
            "403; 415"));
  }

  private static Map<String, String> json(Map<String, String> host) {
    return Map.of("Host", host.getOrDefault("Host", ""), "Content-Type", "application/json");
  }
}
