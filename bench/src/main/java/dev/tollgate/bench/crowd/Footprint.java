package dev.tollgate.bench.crowd;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The memory of a JVM, and its threads.
 *
 * @param heapKb the heap in use after a garbage collection
 * @param residentKb the resident set
 */
record Footprint(long heapKb, long residentKb, long threads) {
  private static final Pattern USED =
      Pattern.compile("(?:total|garbage-first heap).* used (\\d+)K");

  /** Reads the footprint of the JVM with a process id on this machine, after two collections. */
  static Footprint of(long pid) {
    String id = Long.toString(pid);
    // A second run collects what finalizers and references kept.
    jcmd(id, "GC.run");
    jcmd(id, "GC.run");
    Matcher used = USED.matcher(jcmd(id, "GC.heap_info"));
    long heap = 0;
    while (used.find()) {
      heap += Long.parseLong(used.group(1));
    }
    try {
      Map<String, Long> status = new TreeMap<>();
      for (String line : Files.readAllLines(Path.of("/proc", id, "status"))) {
        String[] words = line.split("[:\\s]+", -1);
        if (words.length > 1 && words[1].matches("\\d+")) {
          status.put(words[0], Long.valueOf(words[1]));
        }
      }
      return new Footprint(
          heap, status.getOrDefault("VmRSS", 0L), status.getOrDefault("Threads", 0L));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The processor time that a process has used. */
  static Duration processorTime(long pid) {
    return ProcessHandle.of(pid)
        .flatMap(process -> process.info().totalCpuDuration())
        .orElseThrow(
            () -> new IllegalStateException("process " + pid + ": none (expected: a local cloud)"));
  }

  private static String jcmd(String... arguments) {
    try {
      Process process =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                  arguments[0],
                  arguments[1])
              .redirectErrorStream(true)
              .start();
      return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What each of {@code count} things added to an earlier footprint, for a person. */
  String since(Footprint before, int count) {
    return "%d KB of heap and %d KB resident each"
        .formatted((heapKb - before.heapKb) / count, (residentKb - before.residentKb) / count);
  }

  @Override
  public String toString() {
    return "%d MB of heap, %d MB resident, %d threads"
        .formatted(heapKb >> 10, residentKb >> 10, threads);
  }
}
