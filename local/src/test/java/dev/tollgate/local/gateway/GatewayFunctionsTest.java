package dev.tollgate.local.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.local.endpoint.AccessKeys;
import dev.tollgate.local.hosts.AllowedHosts;
import dev.tollgate.local.lambda.FunctionHost;
import dev.tollgate.local.lambda.LogLine;
import dev.tollgate.local.lambda.runtime.FunctionSpec;
import dev.tollgate.local.template.Environment;
import dev.tollgate.local.testing.HandlerJar;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The gateway in front of functions that come from a jar. */
@Timeout(60)
class GatewayFunctionsTest {

  private static final String ARN = "arn:aws:lambda:us-east-1:000000000000:function:";

  @TempDir Path directory = Path.of("");

  private final Queue<LogLine> log = new ConcurrentLinkedQueue<>();
  private final FunctionHost functions =
      new FunctionHost(InstantSource.system(), new AccessKeys(), log::add);
  private final Gateway gateway =
      new Gateway(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
          AllowedHosts.LOCAL,
          functions,
          NoServices.INSTANCE,
          Environment.of("App", InstantSource.system()),
          handler -> handler,
          line -> {});

  @AfterEach
  void close() {
    gateway.close();
    functions.close();
  }

  @Test
  void a_hundred_handshakes_of_a_second_take_little_more_than_one() throws Exception {
    define("SlowAuthorizer", Duration.ofSeconds(10), OptionalInt.empty());
    addApi();

    long start = System.nanoTime();
    List<Integer> statuses = handshakes(100);

    assertThat(statuses).containsOnly(101);
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
  }

  @Test
  void handshakes_beyond_the_authorizers_concurrency_are_500() throws Exception {
    define("SlowAuthorizer", Duration.ofSeconds(10), OptionalInt.of(3));
    addApi();

    assertThat(handshakes(8))
        .hasSize(8)
        .containsOnly(101, 500)
        .filteredOn(s -> s == 101)
        .hasSize(3);
  }

  @Test
  void handshake_whose_authorizer_times_out_is_500() throws Exception {
    define("SlowAuthorizer", Duration.ofMillis(100), OptionalInt.empty());
    addApi();

    assertThat(handshakes(1)).containsExactly(500);
    assertThat(log).anyMatch(line -> line.message().contains("Task timed out after 0.10 seconds"));
  }

  private void define(String handler, Duration timeout, OptionalInt reserved) throws Exception {
    Path jar = HandlerJar.write(directory.resolve("function.jar"), GatewayHandlers.class);
    functions.put(
        new FunctionSpec(
            handler,
            List.of(ARN + handler),
            jar,
            GatewayHandlers.class.getName() + "$" + handler,
            "arn:aws:iam::000000000000:role/sample",
            Map.of(),
            timeout,
            512,
            reserved));
  }

  private void addApi() {
    gateway.add(
        ScriptedFunctions.api(
            Map.of(),
            Optional.of(new WebSocketApiSpec.Authorizer(ARN + "SlowAuthorizer", List.of()))));
  }

  private List<Integer> handshakes(int count) {
    URI uri = URI.create(gateway.endpoint("ws", "ws1") + "/production");
    List<CompletableFuture<Integer>> all =
        IntStream.range(0, count)
            .mapToObj(
                i ->
                    CompletableFuture.supplyAsync(
                        () -> Client.status(uri), work -> new Thread(work).start()))
            .toList();
    return all.stream().map(CompletableFuture::join).toList();
  }
}
