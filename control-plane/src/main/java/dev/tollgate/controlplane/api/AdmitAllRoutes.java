package dev.tollgate.controlplane.api;

import dev.tollgate.core.enforcement.AdmitAll;
import dev.tollgate.core.enforcement.AdmitAllSwitch;
import dev.tollgate.core.enforcement.Enforcement;
import dev.tollgate.http.Response;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/** Answers the requests for the switch that lifts all limits, and tells all callers if it is on. */
final class AdmitAllRoutes {
  /** The header of every response while all limits are lifted. */
  private static final String HEADER = "tollgate-admit-all";

  private final AdmitAllSwitch admitAll;
  private final Enforcement enforcement;
  private final InstantSource clock;

  AdmitAllRoutes(AdmitAllSwitch admitAll, InstantSource clock) {
    this.admitAll = admitAll;
    this.enforcement = new Enforcement(admitAll, clock);
    this.clock = clock;
  }

  /** Adds the header while all limits are lifted, as far as this process knows. */
  Response announced(Response response) {
    return enforcement
        .lifted()
        .map(on -> response.with(HEADER, "until=" + on.until()))
        .orElse(response);
  }

  Response show(ApiRequest request) {
    return answer(admitAll.read());
  }

  Response turnOn(ApiRequest request) {
    request.requireNoDryRun();
    RequestBodies.Lifting lifting = RequestBodies.lifting(request.body());
    Instant now = clock.instant().truncatedTo(ChronoUnit.SECONDS);
    AdmitAll on =
        new AdmitAll(now, now.plus(lifting.time()), lifting.reason(), request.http().caller());
    admitAll.turnOn(on);
    request
        .http()
        .log("admit-all turned on until " + on.until() + " by " + on.by() + ": " + on.reason());
    return answer(Optional.of(on));
  }

  Response turnOff(ApiRequest request) {
    request.requireNoDryRun();
    admitAll.turnOff();
    request.http().log("admit-all turned off by " + request.http().caller());
    return answer(Optional.empty());
  }

  private Response answer(Optional<AdmitAll> state) {
    enforcement.learn(state);
    return Response.json(200, Documents.of(state.filter(on -> on.isOnAt(clock.instant()))));
  }
}
