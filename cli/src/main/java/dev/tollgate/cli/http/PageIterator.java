package dev.tollgate.cli.http;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** The pages of a list, each requested when it is needed. */
public final class PageIterator implements Iterator<JsonNode> {
  /** More pages than the list of any deployment has. */
  static final int MAX_PAGES = 100_000;

  private final Function<Map<String, String>, JsonNode> request;
  private final Set<String> cursors = new HashSet<>();
  private Map<String, String> query = Map.of();
  private boolean ended;

  /**
   * @param request requests a page. Its argument is the query parameter of the page's cursor; empty
   *     for the first page
   */
  public PageIterator(Function<Map<String, String>, JsonNode> request) {
    this.request = request;
  }

  @Override
  public boolean hasNext() {
    return !ended;
  }

  /**
   * Requests the next page.
   *
   * @throws Failure if the server repeats a cursor or the list has too many pages, because the list
   *     would not end
   */
  @Override
  public JsonNode next() {
    if (ended) {
      throw new NoSuchElementException();
    }
    JsonNode page = request.apply(query);
    Optional<String> cursor = Json.text(page, "next");
    if (cursor.isPresent() && !cursors.add(cursor.get())) {
      throw Failure.of(
          "The server repeats a cursor, so its list has no end. Check the URL of the deployment.");
    }
    if (cursors.size() >= MAX_PAGES) {
      throw Failure.of(
          "The server's list has more than "
              + MAX_PAGES
              + " pages, which no deployment has. Check the URL of the deployment.");
    }
    ended = cursor.isEmpty();
    query = cursor.map(next -> Map.of("cursor", next)).orElse(Map.of());
    return page;
  }
}
