package dev.tollgate.bench.scale;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** Reads the dollars for one unit of each price in {@code docs/prices.yaml}. */
final class ListPrices {
  private ListPrices() {}

  /**
   * The prices by name.
   *
   * @throws IllegalArgumentException if the file has no prices
   */
  static Map<String, Double> read(Path file) {
    Object document;
    try {
      document =
          new Load(LoadSettings.builder().setLabel(file.toString()).build())
              .loadFromString(Files.readString(file));
    } catch (IOException e) {
      throw new UncheckedIOException(file + ": " + e, e);
    }
    Map<String, Double> prices = new TreeMap<>();
    if (document instanceof Map<?, ?> all && all.get("prices") instanceof Map<?, ?> named) {
      named.forEach(
          (name, value) -> {
            if (value instanceof Map<?, ?> price
                && price.get("dollars") instanceof Number dollars
                && price.get("for") instanceof Number count) {
              prices.put(name.toString(), dollars.doubleValue() / count.doubleValue());
            }
          });
    }
    if (prices.isEmpty()) {
      throw new IllegalArgumentException(file + ": no prices");
    }
    return prices;
  }
}
