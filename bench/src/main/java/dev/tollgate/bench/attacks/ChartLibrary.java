package dev.tollgate.bench.attacks;

import dev.tollgate.bench.Measurement;
import dev.tollgate.bench.Row;
import dev.tollgate.bench.Stopwatch;
import dev.tollgate.bench.client.Deployment;
import dev.tollgate.bench.client.Page;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Downloads the largest script of the operator page, its chart library, a hundred times. */
final class ChartLibrary implements Measurement {
  private static final int REQUESTS = 100;

  /** A larger file is a library, which imports no scripts of this project. */
  private static final int LARGEST_READ = 100_000;

  /** A quoted file name in a page or script. */
  private static final Pattern SCRIPT = Pattern.compile("\"([^\"\\s]+\\.js)\"");

  @Override
  public Duration timeout() {
    return Duration.ofMinutes(2);
  }

  @Override
  public List<Row> measure(Deployment deployment, Stopwatch stopwatch) throws InterruptedException {
    URI page = deployment.output("OperatorPage");
    Page first =
        scripts(page).stream()
            .map(ChartLibrary::compressed)
            .max(Comparator.comparingInt(Page::bytes))
            .orElseThrow(
                () -> new IllegalStateException("scripts at " + page + ": none (expected: some)"));
    Map<Integer, Integer> statuses = new TreeMap<>();
    long bytes = 0;
    for (int i = 0; i < REQUESTS; i++) {
      Page again = compressed(first.address());
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
            "compressed and cached; a separate low throttle"));
  }

  private static Page compressed(URI address) {
    return Page.get(address, Map.of("Accept-Encoding", "gzip"));
  }

  /** The scripts that a page loads, directly or by imports. */
  private static Collection<URI> scripts(URI page) {
    Set<URI> found = new LinkedHashSet<>();
    Deque<URI> next = new ArrayDeque<>(List.of(page));
    while (!next.isEmpty()) {
      URI address = next.removeFirst();
      if (found.add(address)) {
        Page file = Page.get(address, Map.of());
        Matcher names = SCRIPT.matcher(file.bytes() < LARGEST_READ ? file.text() : "");
        while (names.find()) {
          next.add(address.resolve(names.group(1)));
        }
      }
    }
    found.remove(page);
    return found;
  }
}
