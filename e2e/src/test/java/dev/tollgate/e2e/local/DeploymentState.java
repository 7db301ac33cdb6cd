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
 * The complete state of a deployment at an instant: rows, queues with their sizes, and schedules.
 *
 * @param facts the content of each row, queue and schedule, by its name
 * @param owners the tenant or tier of each row, queue and schedule, by the same name
 */
record DeploymentState(Map<String, String> facts, Map<String, String> owners) {
  /** The table of stored responses, which also holds those of refused requests. */
  private static final String STORED_RESPONSES = "Idempotency";

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
    for (String table : LocalDeployment.readableTables(tables)) {
      if (table.contains(STORED_RESPONSES)) {
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
      String content =
          new TreeMap<>(
                  queues
                      .getQueueAttributes(
                          request -> request.queueUrl(url).attributeNames(QueueAttributeName.ALL))
                      .attributesAsStrings())
              .toString();
      add("queue " + name, owner(name), content);
    }
  }

  private void add(SchedulerClient schedules) {
    for (ScheduleSummary schedule :
        schedules.listSchedulesPaginator(request -> request.maxResults(100)).schedules()) {
      String content =
          schedules
              .getSchedule(request -> request.groupName(schedule.groupName()).name(schedule.name()))
              .toString();
      add("schedule " + schedule.name(), owner(schedule.name()), content);
    }
  }

  /**
   * The tenant in names such as {@code connect_acme_token_bucket}, {@code connect_acme} and {@code
   * silo_acme.fifo}.
   */
  private static String owner(String name) {
    String[] parts = name.split("[_.]", 3);
    return parts.length > 1 ? parts[1] : "";
  }

  private void add(String key, String owner, String content) {
    facts.put(key, content);
    owners.put(key, owner);
  }

  /** The differences of a later state, except those of the permitted owners. */
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
