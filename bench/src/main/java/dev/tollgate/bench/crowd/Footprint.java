package dev.tollgate.bench.crowd;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
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

  /** Reads the footprint of one process. */
  interface Source {
    Footprint read();
  }

  /**
   * The JVM with a process id on this machine. It is asked with {@code jcmd} and {@code /proc}.
   *
   * @param pid 0 for a JVM that cannot be asked: its footprint is zero
   */
  static Source of(long pid) {
    return () -> pid == 0 ? new Footprint(0, 0, 0) : read(pid);
  }

  private static Footprint read(long pid) {
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
  String since(Footprint before, int count, String thing) {
    return "%d KB of heap a %s, %d more threads"
        .formatted((heapKb - before.heapKb) / count, thing, threads - before.threads);
  }

  @Override
  public String toString() {
    return "%d MB of heap, %d MB resident, %d threads"
        .formatted(heapKb >> 10, residentKb >> 10, threads);
  }
}
