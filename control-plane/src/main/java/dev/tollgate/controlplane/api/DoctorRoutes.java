package dev.tollgate.controlplane.api;

import dev.tollgate.controlplane.doctor.Doctor;
import dev.tollgate.controlplane.doctor.DriftReport;
import dev.tollgate.controlplane.doctor.Position;
import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.http.Cursor;
import dev.tollgate.http.Response;
import java.util.Map;

/** Answers the requests for drift and repairs. */
final class DoctorRoutes {
  private static final String DRIFT = "drift";
  private static final String REPAIRS = "repairs";

  private final Doctor doctor;

  DoctorRoutes(Doctor doctor) {
    this.doctor = doctor;
  }

  Response showDrift(ApiRequest request) {
    Invocation invocation = request.invocation();
    return response(DRIFT, doctor.examine(position(DRIFT, request), limit(request), invocation));
  }

  Response repair(ApiRequest request) {
    request.requireNoDryRun();
    if (request.http().content().length > 0) {
      request.body().only();
    }
    Invocation invocation = request.invocation();
    return response(REPAIRS, doctor.repair(position(REPAIRS, request), limit(request), invocation));
  }

  private static int limit(ApiRequest request) {
    return request.limit(ApiRequest.MAX_DETAILED);
  }

  private static Position position(String listing, ApiRequest request) {
    return request.cursor(listing).map(Position::parse).orElse(Position.START);
  }

  private static Response response(String listing, DriftReport report) {
    Map<String, Object> document = Documents.of(report);
    report.next().ifPresent(next -> document.put("next", Cursor.encode(listing, next.toString())));
    return Response.json(200, document);
  }
}
