package dev.tollgate.controlplane.api;

import dev.tollgate.core.alarm.Alarm;
import dev.tollgate.core.alarm.Alarms;
import dev.tollgate.http.Response;
import java.util.LinkedHashMap;
import java.util.Map;

/** Answers the requests for alarms. */
final class AlarmRoutes {
  private final Alarms alarms;

  AlarmRoutes(Alarms alarms) {
    this.alarms = alarms;
  }

  /** Lists the alarms by name. */
  Response list(ApiRequest unused) {
    return Response.json(
        200, Map.of("alarms", alarms.list().stream().map(AlarmRoutes::document).toList()));
  }

  private static Map<String, Object> document(Alarm alarm) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("name", alarm.name());
    document.put("state", alarm.state().name());
    document.put("since", alarm.since().toString());
    document.put("reason", alarm.reason());
    document.put("meaning", alarm.meaning());
    document.put("runbook", alarm.runbook());
    return document;
  }
}
