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
import java.util.concurrent.CountDownLatch;
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

  private final CountDownLatch released = new CountDownLatch(1);

  @AfterEach
  void close() {
    released.countDown();
    gateway.close();
    functions.close();
    System.getProperties().remove(GatewayHandlers.ENTERED);
    System.getProperties().remove(GatewayHandlers.RELEASED);
  }

  /** Lets invocations wait for {@link #released}; returns a latch for this many of them. */
  private CountDownLatch waiting(int count) {
    CountDownLatch entered = new CountDownLatch(count);
    System.getProperties().put(GatewayHandlers.ENTERED, entered);
    System.getProperties().put(GatewayHandlers.RELEASED, released);
    return entered;
  }

  @Test
  void a_hundred_handshakes_wait_for_their_authorizers_at_the_same_time() throws Exception {
    CountDownLatch entered = waiting(100);
    define("SlowAuthorizer", Duration.ofMinutes(1), OptionalInt.empty());
    addApi();

    List<CompletableFuture<Integer>> handshakes = handshakes(100);
    entered.await();
    released.countDown();

    assertThat(handshakes).allSatisfy(status -> assertThat(status.join()).isEqualTo(101));
  }

  @Test
  void handshakes_beyond_the_authorizers_concurrency_are_500() throws Exception {
    CountDownLatch entered = waiting(3);
    define("SlowAuthorizer", Duration.ofMinutes(1), OptionalInt.of(3));
    addApi();

    List<CompletableFuture<Integer>> waiting = handshakes(3);
    entered.await();
    assertThat(handshakes(5)).allSatisfy(status -> assertThat(status.join()).isEqualTo(500));
    released.countDown();

    assertThat(waiting).allSatisfy(status -> assertThat(status.join()).isEqualTo(101));
  }

  @Test
  void handshake_whose_authorizer_times_out_is_500() throws Exception {
    var unused = waiting(1);
    define("SlowAuthorizer", Duration.ofMillis(100), OptionalInt.empty());
    addApi();

    assertThat(handshakes(1).get(0).join()).isEqualTo(500);
    assertThat(log).anyMatch(line -> line.message().contains("Task timed out after 0.10 seconds"));
  }

  private void define(String handler, Duration timeout, OptionalInt reserved) throws Exception {
    Path jar = HandlerJar.write(directory.resolve("function.jar"), GatewayHandlers.class);
    functions.put(
        new FunctionSpec(
            handler,
            List.of(ARN + handler),
            jar,
            "java25",
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

  private List<CompletableFuture<Integer>> handshakes(int count) {
    URI uri = URI.create(gateway.endpoint("ws", "ws1") + "/production");
    return IntStream.range(0, count)
        .mapToObj(
            i ->
                CompletableFuture.supplyAsync(
                    () -> Client.status(uri), work -> new Thread(work).start()))
        .toList();
  }
}
