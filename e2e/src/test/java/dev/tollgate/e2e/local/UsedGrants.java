package dev.tollgate.e2e.local;

import dev.tollgate.local.iam.Grant;
import dev.tollgate.local.iam.Policies;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;

/**
 * The number of uses of each grant of the stack's roles, by the deployments of all test JVMs of a
 * build. Each JVM writes a file when it ends; {@link GrantsIT} reads all files.
 *
 * @param times the number of uses, by grant
 * @param allowed the number of allowed accesses
 * @param denied the number of denied accesses
 */
record UsedGrants(SortedMap<Grant, Long> times, long allowed, long denied) {
  private static final Path DIRECTORY =
      Path.of(System.getProperty("grants.directory", "target/grants/none"));
  private static final Collection<Policies> WATCHED = new ConcurrentLinkedQueue<>();
  private static final String TAB = "\t";

  static {
    Runtime.getRuntime().addShutdownHook(new Thread(UsedGrants::write));
  }

  /** Counts what these policies allow until the JVM ends. */
  static void watch(Policies policies) {
    WATCHED.add(policies);
  }

  private static void write() {
    List<String> lines = new ArrayList<>();
    for (Policies policies : WATCHED) {
      lines.add(policies.allowed() + TAB + policies.denied());
      policies
          .uses()
          .forEach(
              (grant, times) ->
                  lines.add(
                      String.join(
                          TAB,
                          grant.role(),
                          grant.action(),
                          grant.resource(),
                          Long.toString(times))));
    }
    try {
      Files.createDirectories(DIRECTORY);
      Files.write(DIRECTORY.resolve(ProcessHandle.current().pid() + ".tsv"), lines);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The uses that all JVMs of this build have written.
   *
   * @throws IllegalStateException if there are none
   */
  static UsedGrants ofThisBuild() throws IOException {
    SortedMap<Grant, Long> times = new TreeMap<>();
    long allowed = 0;
    long denied = 0;
    if (Files.notExists(DIRECTORY)) {
      throw new IllegalStateException(
          "No uses of grants in "
              + DIRECTORY
              + ". Run all end-to-end tests: mvn -pl e2e -am verify");
    }
    try (Stream<Path> files = Files.list(DIRECTORY)) {
      for (Path file : files.toList()) {
        for (String line : Files.readAllLines(file)) {
          List<String> fields = List.of(line.split(TAB));
          if (fields.size() == 2) {
            allowed += Long.parseLong(fields.get(0));
            denied += Long.parseLong(fields.get(1));
          } else {
            times.merge(
                new Grant(fields.get(0), fields.get(1), fields.get(2)),
                Long.valueOf(fields.get(3)),
                Long::sum);
          }
        }
      }
    }
    return new UsedGrants(times, allowed, denied);
  }
}
