package dev.tollgate.cli.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class PageIteratorTest {
  private final AtomicInteger requests = new AtomicInteger();

  /** The pages of a list that ends after this many pages. */
  private PageIterator pages(int last) {
    return new PageIterator(
        cursor -> {
          ObjectNode page = JsonNodeFactory.instance.objectNode();
          int number = requests.incrementAndGet();
          return number < last ? page.put("next", "cursor-" + number) : page;
        });
  }

  @Test
  void list_whose_cursors_are_all_new_fails_in_the_end() {
    PageIterator pages = pages(Integer.MAX_VALUE);

    assertThatThrownBy(() -> pages.forEachRemaining(page -> checkBound()))
        .isInstanceOf(Failure.class)
        .hasMessage(
            "The server's list has more than 100000 pages, which no deployment has."
                + " Check the URL of the deployment.");
  }

  private void checkBound() {
    assertThat(requests.get()).isLessThanOrEqualTo(PageIterator.MAX_PAGES);
  }

  @Test
  void list_of_many_pages_is_read_to_its_end() {
    pages(50_000).forEachRemaining(page -> checkBound());

    assertThat(requests.get()).isEqualTo(50_000);
  }
}
