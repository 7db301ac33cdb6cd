package dev.tollgate.core.testing.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.audit.Subject;
import dev.tollgate.core.provisioning.WindowSchedules;
import dev.tollgate.core.tenant.LimitSchedule;
import dev.tollgate.core.tenant.TierName;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The contract of {@link WindowSchedules}. */
public abstract class WindowSchedulesContract {
  private static final Subject GOLD = Subject.tier(new TierName("gold"));
  private static final Subject OTHER = Subject.tier(new TierName("other"));
  private static final Instant OPENS = Instant.parse("2099-11-27T17:00:00Z");
  private static final Instant CLOSES = Instant.parse("2099-11-28T01:00:00Z");
  private static final Instant BEFORE = OPENS.minusSeconds(1);

  private static final LimitSchedule WINDOW = window("2099-11-27T18:00", "2099-11-28T02:00");

  private static final String OPEN = "2099-11-27T18:00 Europe/Berlin";
  private static final String CLOSE = "2099-11-28T02:00 Europe/Berlin";

  private static LimitSchedule window(String from, String to) {
    return LimitSchedule.of(BigDecimal.valueOf(2), from, to, "Europe/Berlin");
  }

  /** The schedules under test; there are none at the start of a test. */
  protected abstract WindowSchedules windows();

  @Test
  void window_has_a_schedule_for_each_end_until_they_are_deleted() {
    assertThat(windows().missing(GOLD, WINDOW, BEFORE)).containsExactly(OPEN, CLOSE);

    windows().put(GOLD, WINDOW, BEFORE);
    windows().put(GOLD, WINDOW, BEFORE);

    assertThat(windows().missing(GOLD, WINDOW, BEFORE)).isEmpty();
    assertThat(windows().missing(OTHER, WINDOW, BEFORE)).hasSize(2);
    windows().delete(GOLD, WINDOW);
    windows().delete(GOLD, WINDOW);
    assertThat(windows().missing(GOLD, WINDOW, BEFORE)).containsExactly(OPEN, CLOSE);
  }

  @Test
  void only_ends_in_the_future_have_schedules() {
    windows().put(GOLD, WINDOW, OPENS);

    assertThat(windows().missing(GOLD, WINDOW, BEFORE)).containsExactly(OPEN);
    assertThat(windows().missing(GOLD, WINDOW, OPENS)).isEmpty();
    assertThat(windows().missing(OTHER, WINDOW, OPENS)).containsExactly(CLOSE);
    assertThat(windows().missing(OTHER, WINDOW, CLOSES)).isEmpty();
    windows().delete(GOLD, WINDOW);
  }

  @Test
  void windows_that_touch_have_schedules_of_their_own() {
    LimitSchedule next = window("2099-11-28T02:00", "2099-11-28T03:00");
    windows().put(GOLD, WINDOW, BEFORE);
    windows().put(GOLD, next, BEFORE);

    windows().delete(GOLD, WINDOW);

    assertThat(windows().missing(GOLD, next, BEFORE)).isEqualTo(List.of());
    windows().delete(GOLD, next);
  }
}
