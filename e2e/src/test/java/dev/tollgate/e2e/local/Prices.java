package dev.tollgate.e2e.local;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import dev.tollgate.local.endpoint.RecordedRequests.Request;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.StreamSupport;

/**
 * The cost of a request: list prices, and assumptions for what is not counted.
 *
 * @param file {@code docs/prices.yaml}
 * @param template the synthesized stack, which has the functions' memory sizes
 */
record Prices(JsonNode file, JsonNode template) {
  private static final double MILLION = 1e6;
  private static final double BYTES_PER_GB = 1e9;
  private static final int HTTP_BYTES = 512 * 1024;
  private static final int FRAME_BYTES = 32 * 1024;
  private static final int QUEUE_BYTES = 64 * 1024;
  private static final Set<String> FREE = Set.of("AssumeRole", "PostToConnection");

  /** Reads the prices and the template. */
  static Prices of(Path file, Path template) {
    try {
      return new Prices(
          new ObjectMapper(new YAMLFactory()).readTree(file.toFile()),
          new ObjectMapper().readTree(template.toFile()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The measured effects of one client request.
   *
   * @param name its name in the table
   * @param isHttp whether it is a request to an HTTP API, rather than a frame or a handshake
   * @param functions the invoked functions, by their names in the template
   * @param requests the AWS requests of the functions and of API Gateway
   * @param sent the bytes of the frame or body; 0 for a handshake or without a body
   * @param answers the bytes of each answer
   * @param queued whether an event source mapping passes it to its function
   */
  record Measured(
      String name,
      boolean isHttp,
      List<String> functions,
      List<Request> requests,
      int sent,
      List<Integer> answers,
      boolean queued) {}

  /** Dollars per million requests, by their cause. */
  record Cost(double api, double lambda, double database, double queues, double dataAndLogs) {
    double sum() {
      return api + lambda + database + queues + dataAndLogs;
    }

    Cost plus(Cost other) {
      return new Cost(
          api + other.api,
          lambda + other.lambda,
          database + other.database,
          queues + other.queues,
          dataAndLogs + other.dataAndLogs);
    }

    /** The row of the table. */
    String row(String name) {
      return String.format(
          Locale.ROOT,
          "| %s | %.2f | %.2f | %.2f | %.2f | %.2f | **%.2f** |",
          name,
          api,
          lambda,
          database,
          queues,
          dataAndLogs,
          sum());
    }
  }

  /** The cost of a million of these requests. */
  Cost of(Measured one) {
    return new Cost(api(one), lambda(one), database(one.requests()), queues(one), dataAndLogs(one));
  }

  /** The cost of a million times these requests within an invocation that happens anyway. */
  Cost within(String function, List<Request> requests) {
    double gigabyteSeconds = millis(requests) / 1_000 * memoryMb(function) / 1_024;
    return new Cost(
        0, price("lambda-gb-second") * gigabyteSeconds * MILLION, database(requests), 0, 0);
  }

  private double api(Measured one) {
    if (one.isHttp()) {
      return price("http-request") * Math.max(1, chunks(one.sent(), HTTP_BYTES)) * MILLION;
    }
    int frames = Math.max(1, chunks(one.sent(), FRAME_BYTES));
    // The answer to a handshake is not billed as a message.
    int answers =
        one.sent() == 0
            ? 0
            : one.answers().stream().mapToInt(bytes -> chunks(bytes, FRAME_BYTES)).sum();
    return price("websocket-frame") * (frames + answers) * MILLION;
  }

  private double lambda(Measured one) {
    double gigabyteSeconds = 0;
    for (String function : one.functions()) {
      double millis =
          assumed("milliseconds", "invocation")
              + millis(
                  one.requests().stream()
                      .filter(request -> request.principal().name().equals(function))
                      .toList());
      gigabyteSeconds += Math.ceil(millis) / 1_000 * memoryMb(function) / 1_024;
    }
    return (price("lambda-invocation") * one.functions().size()
            + price("lambda-gb-second") * gigabyteSeconds)
        * MILLION;
  }

  /** The duration of the requests, one after another. */
  private double millis(List<Request> requests) {
    return requests.stream()
        .filter(request -> !LocalDeployment.isForCredentials(request))
        .mapToDouble(request -> assumed("milliseconds", request.operation()))
        .sum();
  }

  private double database(List<Request> requests) {
    double dollars = 0;
    for (Request request : requests) {
      if (request.service().equals("dynamodb") && !LocalDeployment.isForCredentials(request)) {
        String operation = request.operation();
        dollars +=
            file.at("/assumptions/read-units").has(operation)
                ? price("dynamodb-read-unit") * assumed("read-units", operation)
                : price("dynamodb-write-unit") * assumed("write-units", operation);
      }
    }
    return dollars * MILLION;
  }

  private double queues(Measured one) {
    int chunks = Math.max(1, chunks(one.sent(), QUEUE_BYTES));
    double dollars = 0;
    for (Request request : one.requests()) {
      if (request.service().equals("sqs")) {
        boolean isFifo = request.resource().filter(name -> name.endsWith(".fifo")).isPresent();
        dollars += isFifo ? price("sqs-fifo-request") * chunks : price("sqs-standard-request");
      } else if (!request.service().equals("dynamodb") && !FREE.contains(request.operation())) {
        throw new AssertionError(request + " (expected: a service that has a price)");
      }
    }
    // The event source mapping receives the message, alone in its batch, and deletes it.
    return (dollars + (one.queued() ? price("sqs-fifo-request") * (chunks + 1) : 0)) * MILLION;
  }

  private double dataAndLogs(Measured one) {
    double out = one.answers().stream().mapToDouble(bytes -> bytes).sum();
    if (one.isHttp() || one.sent() == 0) {
      out += assumed("bytes", "answer-head");
    }
    double logged =
        one.functions().size() * assumed("bytes", "function-log") + assumed("bytes", "access-log");
    return (price("data-out-gb") * out + price("log-gb") * logged) / BYTES_PER_GB * MILLION;
  }

  private static int chunks(int bytes, int chunk) {
    return (bytes + chunk - 1) / chunk;
  }

  private double price(String name) {
    JsonNode price = file.path("prices").path(name);
    if (!price.path("source").asText().startsWith("https://")) {
      throw new AssertionError("prices." + name + ": " + price + " (expected: with a source)");
    }
    return price.path("dollars").asDouble() / price.path("for").asDouble();
  }

  private double assumed(String kind, String name) {
    JsonNode value = file.path("assumptions").path(kind).path(name);
    if (!value.isNumber()) {
      throw new AssertionError("assumptions." + kind + "." + name + " (expected: a number)");
    }
    return value.asDouble();
  }

  private int memoryMb(String function) {
    List<JsonNode> found =
        StreamSupport.stream(template.path("Resources").properties().spliterator(), false)
            .filter(resource -> resource.getKey().startsWith("Tollgate" + function + "Function"))
            .map(resource -> resource.getValue().at("/Properties/MemorySize"))
            .filter(JsonNode::isInt)
            .toList();
    if (found.size() != 1) {
      throw new AssertionError(found.size() + " functions " + function + " (expected: 1)");
    }
    return found.get(0).asInt();
  }
}
