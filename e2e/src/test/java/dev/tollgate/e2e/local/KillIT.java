package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tollgate.e2e.acceptance.Deployment;
import dev.tollgate.local.testing.HandlerJar;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.lambda.LambdaClient;
import software.amazon.awssdk.services.scheduler.SchedulerClient;
import software.amazon.awssdk.services.scheduler.model.ScheduleSummary;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/**
 * A local cloud with a data directory is killed, as by {@code kill -9}, during requests. After a
 * restart it has everything that it acknowledged, and one repair makes it consistent.
 */
@Tag("nightly")
final class KillIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Path ASSEMBLY = Path.of("../infra/target/cdk.out").toAbsolutePath();
  private static final Map<String, String> TENANTS =
      Map.of("one", "bronze", "two", "silver", "three", "gold", "four", "gold");

  /**
   * Requests that onboard, change and remove tenants; half of them are answered before the kill.
   */
  private static final int CHANGED = 3 * 12;

  private static final int CHANGERS = 4;

  private static final String SHARED =
      """
      {"isolation":"POOL","fillMode":"SHARED","limits":{"tenantPerMinute":6,"sessionPerMinute":5,
       "connectionsPerSession":2,"tenantConnections":10,"sessionTTL":200,"messagesPerMinute":6}}""";

  /** The rate and the capacity of the tenants' buckets for connections. */
  private static final int PER_MINUTE = 20;

  @TempDir private Path directory;
  private final HttpClient http = HttpClient.newHttpClient();

  private record Answer(int status, JsonNode body) {}

  private Answer send(String method, String url, String body) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url))
            .header("content-type", "application/json")
            .timeout(Duration.ofSeconds(60))
            .method(method, BodyPublishers.ofString(body))
            .build();
    try {
      HttpResponse<String> response = http.send(request, BodyHandlers.ofString());
      return new Answer(
          response.statusCode(),
          response.body().isEmpty() ? JSON.createObjectNode() : JSON.readTree(response.body()));
    } catch (IOException e) {
      throw new IllegalStateException(url, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(url, e);
    }
  }

  private JsonNode tenant(CloudProcess cloud, String tenant) {
    Answer answer = send("GET", cloud.output("ControlPlaneURL") + "/tenants/" + tenant, "");
    assertThat(answer.status()).as("%s", answer).isEqualTo(200);
    return answer.body();
  }

  private static int level(JsonNode tenant, String action) {
    for (JsonNode bucket : tenant.path("buckets")) {
      if (bucket.path("action").asText().equals(action)) {
        return bucket.path("level").asInt();
      }
    }
    throw new AssertionError(tenant);
  }

  private static Set<String> schedules(CloudProcess cloud) {
    try (SchedulerClient scheduler = cloud.client(SchedulerClient.builder())) {
      return scheduler.listSchedulesPaginator(r -> {}).schedules().stream()
          .map(ScheduleSummary::name)
          .collect(Collectors.toCollection(TreeSet::new));
    }
  }

  private CloudProcess start() throws IOException {
    return CloudProcess.start(ASSEMBLY, directory.resolve("data"), directory.resolve("up.log"));
  }

  @Test
  void acknowledged_writes_survive_a_kill() throws Exception {
    CloudProcess before = start();
    String plane = before.output("ControlPlaneURL");
    assertThat(
            send(
                    "PUT",
                    plane + "/tiers/special",
                    "{\"isolation\":\"POOL\",\"limits\":{\"tenantPerMinute\":7,\"sessionPerMinute\":5,\"connectionsPerSession\":2,\"tenantConnections\":10,\"sessionTTL\":200,\"messagesPerMinute\":60},\"buckets\":{\"send-email\":{\"ratePerMinute\":0.2,\"capacity\":5}}}")
                .status())
        .isBetween(200, 201);
    Map<String, String> sessions = new HashMap<>();
    for (Map.Entry<String, String> tenant : TENANTS.entrySet()) {
      Answer onboarded =
          send(
              "POST",
              plane + "/tenants",
              "{\"tenantId\":\"%s\",\"tier\":\"%s\",\"overrides\":{\"tenantPerMinute\":%d,\"messagesPerMinute\":300}}"
                  .formatted(tenant.getKey(), tenant.getValue(), PER_MINUTE));
      assertThat(onboarded.status()).as("%s", onboarded).isEqualTo(201);
      Answer created =
          send("PUT", before.output("SessionURL") + "?tenantId=" + tenant.getKey(), "");
      String session = created.body().path("sessionId").asText();
      sessions.put(tenant.getKey(), session);
      var unused =
          http.newWebSocketBuilder()
              .buildAsync(
                  URI.create(
                      before.output("WebSocketURL") + Deployment.query(tenant.getKey(), session)),
                  new WebSocket.Listener() {})
              .join();
    }
    Path code = HandlerJar.write(directory.resolve("code.jar"), KeptFunction.class);
    try (LambdaClient lambda = before.client(LambdaClient.builder())) {
      String role = lambda.getFunctionConfiguration(r -> r.functionName("TokenProducer")).role();
      SdkBytes zip = SdkBytes.fromByteArray(Files.readAllBytes(code));
      lambda.createFunction(
          r ->
              r.functionName("kept")
                  .role(role)
                  .runtime("java21")
                  .handler(KeptFunction.class.getName())
                  .code(c -> c.zipFile(zip)));
    }
    assertThat(send("PUT", plane + "/tiers/shared", SHARED).status()).isBetween(200, 201);
    List<String> sent = fill(before);
    Map<String, JsonNode> shown = new HashMap<>();
    for (String tenant : TENANTS.keySet()) {
      shown.put(tenant, tenant(before, tenant));
    }
    Set<String> schedules = schedules(before);

    Set<String> answered = killAtWork(before, sent);

    CloudProcess after = start();
    try {
      for (String tenant : TENANTS.keySet()) {
        JsonNode now = tenant(after, tenant);
        JsonNode then = shown.getOrDefault(tenant, JSON.createObjectNode());
        for (String member : List.of("tier", "status", "overrides", "limits", "version")) {
          assertThat(now.path(member)).as("%s of %s", member, tenant).isEqualTo(then.path(member));
        }
        // A fill removes tokens beyond the capacity; fills at the same time add up to a minute's.
        assertThat(level(now, "connect"))
            .isBetween(
                Math.min(level(then, "connect"), PER_MINUTE), /* capacity + a minute's */
                2 * PER_MINUTE);
        Answer session =
            send(
                "GET",
                after.output("SessionURL")
                    + Deployment.query(tenant, sessions.getOrDefault(tenant, "")),
                "");
        assertThat(session.status()).as("%s", session).isEqualTo(200);
      }
      assertThat(send("GET", after.output("ControlPlaneURL") + "/tiers/special", "").status())
          .isEqualTo(200);
      assertThat(schedules(after)).containsAll(schedules);
      for (String session : answered) {
        assertThat(
                send("GET", after.output("SessionURL") + Deployment.query("three", session), "")
                    .status())
            .as("session %s", session)
            .isEqualTo(200);
      }
      // The last message may have been stored without a response.
      List<String> drained = drain(after);
      assertThat(drained).doesNotHaveDuplicates().containsAll(sent);
      assertThat(drained).hasSizeLessThanOrEqualTo(sent.size() + 1);
      try (LambdaClient lambda = after.client(LambdaClient.builder())) {
        assertThat(
                lambda
                    .invoke(r -> r.functionName("kept").payload(SdkBytes.fromUtf8String("{}")))
                    .functionError())
            .isNull();
      }
      assertRepaired(after);
      Answer onboarded =
          send(
              "POST",
              after.output("ControlPlaneURL") + "/tenants",
              "{\"tenantId\":\"five\",\"tier\":\"special\",\"overrides\":{}}");
      assertThat(onboarded.status()).as("%s", onboarded).isEqualTo(201);
    } finally {
      after.kill();
    }
  }

  /** After one repair, no drift is left, and what the tenants need exists. */
  private void assertRepaired(CloudProcess cloud) {
    String plane = cloud.output("ControlPlaneURL");
    List<JsonNode> repaired =
        LocalDeployment.allFindings(
            query -> send("POST", plane + "/repairs" + query, "{}").body().toString());
    assertThat(
            LocalDeployment.allFindings(
                query -> send("GET", plane + "/drift" + query, "").body().toString()))
        .as("after the repair of %s", repaired)
        .isEmpty();
    assertProvided(cloud, send("GET", plane + "/tenants", "").body().path("tenants"));
  }

  /** Asserts that exactly the queues and schedules exist that the tenants need. */
  private static void assertProvided(CloudProcess cloud, JsonNode tenants) {
    assertThat(tenants).isNotEmpty();
    Set<String> queues = new TreeSet<>();
    Set<String> schedules = new TreeSet<>();
    for (JsonNode tenant : tenants) {
      for (String action : List.of("connect", "message")) {
        String bucket = action + "_" + tenant.path("tenantId").asText();
        queues.add(bucket + "_token_bucket");
        if (!tenant.path("tier").asText().equals("shared")) {
          schedules.add(bucket);
        }
      }
    }
    try (SqsClient sqs = cloud.client(SqsClient.builder());
        SchedulerClient scheduler = cloud.client(SchedulerClient.builder())) {
      assertThat(sqs.listQueues().queueUrls())
          .extracting(url -> url.substring(url.lastIndexOf('/') + 1))
          .filteredOn(name -> name.endsWith("_token_bucket"))
          .containsExactlyInAnyOrderElementsOf(queues);
      assertThat(scheduler.listSchedulesPaginator(r -> {}).schedules())
          .extracting(ScheduleSummary::name)
          .filteredOn(name -> name.contains("_"))
          .containsExactlyInAnyOrderElementsOf(schedules);
    }
  }

  /**
   * Kills the cloud while it onboards tenants, changes and removes them, creates sessions and
   * accepts messages. Returns the acknowledged sessions, and adds the acknowledged messages to
   * those sent.
   */
  private Set<String> killAtWork(CloudProcess cloud, List<String> sent)
      throws InterruptedException {
    ConcurrentLinkedQueue<String> answered = new ConcurrentLinkedQueue<>();
    CountDownLatch enoughAnswered = new CountDownLatch(40);
    CountDownLatch enoughTaken = new CountDownLatch(100);
    List<Thread> clients = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Thread client =
          new Thread(
              () -> {
                try {
                  while (true) {
                    Answer created =
                        send("PUT", cloud.output("SessionURL") + "?tenantId=three", "");
                    if (created.status() == 201) {
                      answered.add(created.body().path("sessionId").asText());
                      enoughAnswered.countDown();
                    }
                  }
                } catch (IllegalStateException e) {
                  // The cloud was killed.
                }
              });
      client.start();
      clients.add(client);
    }
    ConcurrentLinkedQueue<String> taken = new ConcurrentLinkedQueue<>();
    Thread sender = new Thread(() -> sendUntilRefused(cloud, taken, enoughTaken));
    sender.start();
    clients.add(sender);
    AtomicInteger changes = new AtomicInteger();
    CountDownLatch enoughChanged = new CountDownLatch(CHANGED / 2);
    for (int first = 0; first < CHANGERS; first++) {
      int from = first;
      Thread changer = new Thread(() -> change(cloud, from, changes, enoughChanged));
      changer.start();
      clients.add(changer);
    }
    enoughAnswered.await();
    enoughTaken.await();
    enoughChanged.await();
    cloud.kill();
    for (Thread client : clients) {
      client.join();
    }
    assertThat(changes.get()).as("the cloud was changing tenants").isLessThan(CHANGED);
    sent.addAll(taken);
    return new HashSet<>(answered);
  }

  /** Onboards a caller's share of tenants, moves each to another tier, and removes some. */
  private void change(CloudProcess cloud, int first, AtomicInteger done, CountDownLatch enough) {
    String url = cloud.output("ControlPlaneURL") + "/tenants";
    try {
      for (int number = first; number < CHANGED / 3; number += CHANGERS) {
        String tenant = "tenant-" + number;
        String other = number % 2 == 0 ? "shared" : "silver";
        for (List<String> request :
            List.of(
                List.of("POST", url, "{\"tenantId\":\"%s\",\"tier\":\"bronze\"}".formatted(tenant)),
                List.of("PATCH", url + "/" + tenant, "{\"tier\":\"%s\"}".formatted(other)),
                List.of(number % 3 == 0 ? "DELETE" : "GET", url + "/" + tenant, ""))) {
          send(request.get(0), request.get(1), request.get(2));
          done.incrementAndGet();
          enough.countDown();
        }
      }
    } catch (IllegalStateException e) {
      // The cloud was killed.
    }
  }

  private static void sendUntilRefused(
      CloudProcess cloud, ConcurrentLinkedQueue<String> taken, CountDownLatch enough) {
    try (SqsClient sqs = cloud.client(SqsClient.builder())) {
      String url = sqs.getQueueUrl(r -> r.queueName("plain")).queueUrl();
      for (int i = 0; true; i++) {
        String body = "at work " + i;
        sqs.sendMessage(r -> r.queueUrl(url).messageBody(body));
        taken.add(body);
        enough.countDown();
      }
    } catch (SdkException e) {
      // The cloud was killed.
    }
  }

  /** Sends messages of three kinds: visible, delayed and in flight. */
  private static List<String> fill(CloudProcess cloud) {
    List<String> sent = new ArrayList<>();
    try (SqsClient sqs = cloud.client(SqsClient.builder())) {
      for (String name : List.of("plain", "ordered.fifo")) {
        boolean fifo = name.endsWith(".fifo");
        String url =
            sqs.createQueue(
                    r -> {
                      r.queueName(name);
                      if (fifo) {
                        r.attributes(Map.of(QueueAttributeName.FIFO_QUEUE, "true"));
                      }
                    })
                .queueUrl();
        for (int i = 0; i < 30; i++) {
          String body = name + " " + i;
          int delay = i % 3 == 0 && !fifo ? 5 : 0;
          sqs.sendMessage(
              r -> {
                r.queueUrl(url).messageBody(body);
                if (fifo) {
                  r.messageGroupId("g" + body.length())
                      .messageDeduplicationId(body.replace(' ', '-'));
                } else {
                  r.delaySeconds(delay);
                }
              });
          sent.add(body);
        }
        List<Message> received =
            sqs.receiveMessage(r -> r.queueUrl(url).maxNumberOfMessages(10).visibilityTimeout(5))
                .messages();
        assertThat(received).isNotEmpty();
        Message deleted = received.get(0);
        sqs.deleteMessage(r -> r.queueUrl(url).receiptHandle(deleted.receiptHandle()));
        sent.remove(deleted.body());
      }
    }
    return sent;
  }

  /** Receives and deletes all messages, including those that are delayed or in flight. */
  private static List<String> drain(CloudProcess cloud) {
    List<String> bodies = new ArrayList<>();
    try (SqsClient sqs = cloud.client(SqsClient.builder())) {
      for (String name : List.of("plain", "ordered.fifo")) {
        String url = sqs.getQueueUrl(r -> r.queueName(name)).queueUrl();
        List<Message> received;
        do {
          received =
              sqs.receiveMessage(r -> r.queueUrl(url).maxNumberOfMessages(10).waitTimeSeconds(7))
                  .messages();
          for (Message message : received) {
            bodies.add(message.body());
            sqs.deleteMessage(r -> r.queueUrl(url).receiptHandle(message.receiptHandle()));
          }
        } while (!received.isEmpty());
      }
    }
    return bodies;
  }
}
