package dev.tollgate.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.command.Main;
import dev.tollgate.cli.context.Context;
import dev.tollgate.cli.context.ContextFile;
import dev.tollgate.cli.context.LocalAccess;
import dev.tollgate.cli.context.Outputs;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.local.InProcessCloud;
import dev.tollgate.cli.terminal.Shell;
import dev.tollgate.local.LocalCloud;
import dev.tollgate.local.Options;
import java.io.ByteArrayInputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The logs of the complete stack on a local cloud, read with the protocol of CloudWatch Logs. */
@Tag("nightly")
final class LogsIT {
  @TempDir private static Path directory;
  private static LocalCloud cloud;
  private static Outputs outputs;

  @BeforeAll
  static void start() throws Exception {
    cloud =
        LocalCloud.start(
            new Options(
                Path.of("../infra/target/cdk.out"),
                "127.0.0.1",
                0,
                Optional.empty(),
                Optional.of(Path.of("target/endtoend.log")),
                Map.of(),
                InstantSource.system()));
    Path file = directory.resolve(Outputs.DEFAULT);
    cloud.writeOutputs(file);
    Files.write(
        file.resolveSibling(LocalAccess.FILE),
        cloud.environmentOfAlarms().entrySet().stream()
            .map(variable -> variable.getKey() + "=" + variable.getValue())
            .toList());
    outputs = Outputs.read("test", file, Optional.empty());
    Context context = Context.of(Context.LOCAL, outputs, Optional.empty(), Optional.empty(), false);
    ContextFile.update(directory.resolve("tollgate"), contexts -> contexts.with(context));
  }

  @AfterAll
  static void stop() {
    cloud.close();
  }

  private static List<String> run(String... arguments) {
    AtomicLong elapsed = new AtomicLong();
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    Shell shell =
        new Shell(
            new ByteArrayInputStream(new byte[0]),
            new PrintWriter(out, true),
            new PrintWriter(err, true),
            directory,
            Optional.empty(),
            Map.of("XDG_CONFIG_HOME", directory.toString()),
            Optional.empty(),
            elapsed::get,
            time -> elapsed.addAndGet(time.toNanos()));
    int code = Main.commandLine(shell, InProcessCloud::start, arguments).execute(arguments);
    assertThat(code).as(err.toString()).isZero();
    return out.toString().lines().toList();
  }

  private static String open(String tenant) {
    Api sessions = new Api(Api.client(), outputs.sessions(), Optional.empty());
    return Json.text(
            sessions.send("PUT", "?tenantId=" + tenant, Optional.empty()).orThrow().json(),
            "sessionId")
        .orElseThrow();
  }

  private static int handshake(String tenant, String session) {
    URI socket =
        URI.create("%s?tenantId=%s&sessionId=%s".formatted(outputs.sockets(), tenant, session));
    try {
      HttpClient.newHttpClient()
          .newWebSocketBuilder()
          .connectTimeout(Duration.ofSeconds(30))
          .buildAsync(socket, new WebSocket.Listener() {})
          .join()
          .abort();
      return 101;
    } catch (CompletionException e) {
      return ((WebSocketHandshakeException) e.getCause()).getResponse().statusCode();
    }
  }

  @Test
  void a_tenant_has_its_own_lines_alone() {
    for (String tenant : List.of("logs-a", "logs-b")) {
      run("tenants", "onboard", tenant, "--tier", "gold", "--set", "sessionPerMinute=1");
      String session = open(tenant);
      assertThat(handshake(tenant, session)).isEqualTo(101);
      assertThat(handshake(tenant, session)).isEqualTo(429);
      assertThat(run("logs", "--level", "INFO"))
          .noneMatch(line -> line.contains(session))
          .isNotEmpty();
    }

    List<String> ofA = run("logs", "--tenant", "logs-a");
    List<String> ofAuthorizer = run("logs", "--tenant", "logs-a", "--function", "Authorizer");

    assertThat(ofA)
        .anyMatch(line -> line.contains("  Connect") && line.contains("handshake admitted"))
        .anyMatch(line -> line.contains("handshake refused: SESSION_RATE"))
        .allMatch(line -> line.contains("logs-a"))
        .noneMatch(line -> line.contains("logs-b"));
    // Several lines may have the same millisecond.
    assertThat(ofA.stream().map(line -> line.split(" ", 2)[0]).toList()).isSorted();
    assertThat(ofAuthorizer).allMatch(line -> line.contains("  Authorizer"));
    assertThat(run("logs", "--tenant", "logs-b")).noneMatch(line -> line.contains("logs-a"));
  }
}
