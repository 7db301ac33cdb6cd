package dev.tollgate.handlers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.message.TenantMessage;
import dev.tollgate.message.TenantMessageHandler;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class HandlerClassTest {
  /** An application's handler. */
  public static class Fine implements TenantMessageHandler {
    @Override
    public List<String> handle(TenantMessage message) {
      return List.of();
    }
  }

  /** One that wants to know something first. */
  public static final class Demanding extends Fine {
    /** A handler that needs this. */
    public Demanding(String needed) {}
  }

  /** One that nobody may make. */
  public static final class Shy extends Fine {
    Shy() {}
  }

  /** One that is only an idea. */
  public abstract static class Unfinished extends Fine {}

  /** One that fails at once. */
  public static final class Failing extends Fine {
    /** Fails. */
    public Failing() {
      throw new IllegalArgumentException("no database");
    }
  }

  @Test
  void a_handler_is_made_of_its_class() {
    assertThat(HandlerClass.make(Fine.class.getName())).isInstanceOf(Fine.class);
    assertThat(HandlerClass.make("dev.tollgate.handlers.Echo")).isInstanceOf(Echo.class);
  }

  @ParameterizedTest
  @CsvSource({
    "com.example.None, it is not in the function's jar",
    "'', it is not in the function's jar",
    "java.lang.String, it does not implement dev.tollgate.message.TenantMessageHandler",
    "dev.tollgate.handlers.HandlerClassTest$Demanding, it is no public class with a public constructor without parameters",
    "dev.tollgate.handlers.HandlerClassTest$Shy, it is no public class with a public constructor without parameters",
    "dev.tollgate.handlers.HandlerClassTest$Unfinished, it is no public class with a public constructor without parameters",
    "dev.tollgate.handlers.HandlerClassTest$Failing, it cannot be made",
  })
  void a_class_that_is_no_handler_is_refused_by_name(String name, String why) {
    assertThatThrownBy(() -> HandlerClass.make(name))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("environment: MESSAGE_HANDLER " + name + ": " + why);
  }
}
