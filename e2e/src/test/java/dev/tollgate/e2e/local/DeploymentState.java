package dev.tollgate.e2e.local;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.scheduler.SchedulerClient;
import software.amazon.awssdk.services.scheduler.model.ScheduleSummary;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/**
 * All that a deployment holds at an instant: rows, queues with how much is in them, schedules.
 *
 * @param facts what each says, by what it is
 * @param owners the tenants and tiers, by the same
 */
record DeploymentState(Map<String, String> facts, Map<String, String> owners) {
  /** Answers that are kept for repetitions, of refusals too. */
  private static final String KEPT_ANSWERS = "Idempotency";

  static DeploymentState of(LocalDeployment deployment) throws InterruptedException {
    deployment.cloud().settle();
    DeploymentState all = new DeploymentState(new TreeMap<>(), new TreeMap<>());
    try (DynamoDbClient tables = deployment.inspect(DynamoDbClient.builder());
        SqsClient queues = deployment.inspect(SqsClient.builder());
        SchedulerClient schedules = deployment.inspect(SchedulerClient.builder())) {
      all.add(tables);
      all.add(queues);
      all.add(schedules);
    }
    return all;
  }

  private void add(DynamoDbClient tables) {
    for (String table : tables.listTables().tableNames()) {
      if (table.contains(KEPT_ANSWERS)) {
        continue;
      }
      for (Map<String, AttributeValue> row :
          tables.scanPaginator(request -> request.tableName(table)).items()) {
        String key =
            table
                + text(row, "tenantId")
                + text(row, "tier")
                + text(row, "sessionId")
                + text(row, "key");
        String owner =
            text(row, "tenantId") + (row.containsKey("tenantId") ? "" : text(row, "tier"));
        add(key, owner.strip(), new TreeMap<>(row).toString());
      }
    }
  }

  private static String text(Map<String, AttributeValue> row, String attribute) {
    return row.containsKey(attribute) ? " " + row.get(attribute).s() : "";
  }

  private void add(SqsClient queues) {
    for (String url :
        queues.listQueuesPaginator(request -> request.maxResults(1_000)).queueUrls()) {
      String name = url.substring(url.lastIndexOf('/') + 1);
      String says =
          new TreeMap<>(
                  queues
                      .getQueueAttributes(
                          request -> request.queueUrl(url).attributeNames(QueueAttributeName.ALL))
                      .attributesAsStrings())
              .toString();
      add("queue " + name, owner(name), says);
    }
  }

  private void add(SchedulerClient schedules) {
    for (ScheduleSummary schedule :
        schedules.listSchedulesPaginator(request -> request.maxResults(100)).schedules()) {
      String says =
          schedules
              .getSchedule(request -> request.groupName(schedule.groupName()).name(schedule.name()))
              .toString();
      add("schedule " + schedule.name(), owner(schedule.name()), says);
    }
  }

  /** Of {@code connect_acme_token_bucket}, {@code connect_acme} and {@code silo_acme.fifo}. */
  private static String owner(String name) {
    String[] parts = name.split("[_.]", 3);
    return parts.length > 1 ? parts[1] : "";
  }

  private void add(String key, String owner, String says) {
    facts.put(key, says);
    owners.put(key, owner);
  }

  /** What is otherwise, or not there, in one of both; but not what belongs to these. */
  Set<String> changesTo(DeploymentState later, Set<String> permitted) {
    Set<String> changes = new TreeSet<>();
    Set<String> keys = new TreeSet<>(facts.keySet());
    keys.addAll(later.facts.keySet());
    for (String key : keys) {
      String before = facts.getOrDefault(key, "nothing");
      String after = later.facts.getOrDefault(key, "nothing");
      String owner = owners.getOrDefault(key, later.owners.getOrDefault(key, ""));
      if (!before.equals(after) && !permitted.contains(owner)) {
        changes.add(key + ": " + before + " -> " + after);
      }
    }
    return changes;
  }
}
