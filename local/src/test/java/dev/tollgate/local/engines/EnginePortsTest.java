package dev.tollgate.local.engines;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.local.template.Environment;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.parallel.Isolated;

/** The engines can be reached through the endpoint only, which demands access keys. */
@Isolated // Other tests open ports.
@EnabledOnOs(OS.LINUX) // Elsewhere the JDK cannot list the ports of a process.
final class EnginePortsTest {
  private static final String LISTENING = "0A";

  @Test
  void engines_open_no_port() throws Exception {
    Set<String> before = listeningSockets();
    try (TableEngine tables = new TableEngine(Optional.empty(), "us-east-1");
        QueueEngine queues =
            new QueueEngine(
                Optional.empty(), Environment.of("Test", InstantSource.system()), queue -> false)) {
      assertThat(tables.handler()).isNotNull();
      assertThat(queues.handler()).isNotNull();

      assertThat(listeningSockets()).isEqualTo(before);

      try (ServerSocket open = new ServerSocket(0)) {
        assertThat(listeningSockets()).as(open + " is seen").hasSize(before.size() + 1);
      }
    }
  }

  /** The inodes of the sockets at which this process listens. */
  private static Set<String> listeningSockets() throws IOException {
    Set<String> own;
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
      own = descriptors.map(EnginePortsTest::target).collect(Collectors.toSet());
    }
    Set<String> listening = new HashSet<>();
    for (String table : List.of("tcp", "tcp6")) {
      for (String line : Files.readAllLines(Path.of("/proc/self/net", table))) {
        String[] columns = line.trim().split("\\s+", -1);
        if (columns[3].equals(LISTENING) && own.contains("socket:[" + columns[9] + "]")) {
          listening.add(columns[9]);
        }
      }
    }
    return listening;
  }

  private static String target(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (NoSuchFileException e) {
      return ""; // the descriptor of this very listing
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
