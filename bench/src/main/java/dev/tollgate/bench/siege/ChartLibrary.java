package dev.tollgate.bench.siege;

import dev.tollgate.bench.Measurement;
import dev.tollgate.bench.Row;
import dev.tollgate.bench.Watch;
import dev.tollgate.bench.client.Deployment;
import dev.tollgate.bench.client.Page;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A hundred downloads of the chart library that the operator's page names. */
final class ChartLibrary implements Measurement {
  private static final int REQUESTS = 100;

  /** A larger file is a library, and names nothing of ours. */
  private static final int LARGEST_READ = 100_000;

  /** What a page or a script names, in quotes. */
  private static final Pattern SCRIPT = Pattern.compile("\"([^\"\\s]+\\.js)\"");

  @Override
  public Duration patience() {
    return Duration.ofMinutes(2);
  }

  @Override
  public List<Row> measure(Deployment deployment, Watch watch) throws InterruptedException {
    URI page = deployment.output("OperatorPage");
    Page first =
        Page.get(
            scripts(page).stream()
                .filter(script -> script.address().getPath().contains("chart"))
                .max(Comparator.comparingInt(Page::bytes))
                .orElseThrow(
                    () ->
                        new IllegalStateException(
                            "charts at " + page + ": none (expected: a script)"))
                .address(),
            Map.of("Accept-Encoding", "gzip"));
    Map<Integer, Integer> statuses = new TreeMap<>();
    long bytes = 0;
    for (int i = 0; i < REQUESTS; i++) {
      Page again = Page.get(first.address(), Map.of("Accept-Encoding", "gzip"));
      statuses.merge(again.status(), 1, Integer::sum);
      bytes += again.bytes();
    }
    return List.of(
        new Row(
            "the console's chart library, %d requests".formatted(REQUESTS),
            "209 KB, uncompressed, by a function; some $20 a million",
            "%,d bytes each; content-encoding: %s; cache-control: %s; statuses %s; %,d bytes in all"
                .formatted(
                    first.bytes(),
                    first.header("content-encoding"),
                    first.header("cache-control"),
                    statuses,
                    bytes),
            "compressed and cached, a low throttle of its own"));
  }

  /** The scripts that a page loads, and those that these import. */
  private static Collection<Page> scripts(URI page) {
    Map<URI, Page> found = new LinkedHashMap<>();
    Deque<URI> next = new ArrayDeque<>(List.of(page));
    while (!next.isEmpty()) {
      URI address = next.removeFirst();
      if (!found.containsKey(address)) {
        Page file = Page.get(address, Map.of());
        found.put(address, file);
        Matcher names = SCRIPT.matcher(file.bytes() < LARGEST_READ ? file.text() : "");
        while (names.find()) {
          next.add(address.resolve(names.group(1)));
        }
      }
    }
    return found.values();
  }
}
