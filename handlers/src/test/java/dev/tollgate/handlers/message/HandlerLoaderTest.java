package dev.tollgate.handlers.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.message.TenantMessage;
import dev.tollgate.message.TenantMessageHandler;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class HandlerLoaderTest {
  /** A usable handler. */
  public static class Valid implements TenantMessageHandler {
    @Override
    public List<String> handle(TenantMessage message) {
      return List.of();
    }
  }

  /** A handler without a constructor that needs no arguments. */
  public static final class NeedsArgument extends Valid {
    /** A handler with this argument. */
    public NeedsArgument(String needed) {}
  }

  /** A handler whose constructor is not public. */
  public static final class PackagePrivate extends Valid {
    PackagePrivate() {}
  }

  /** An abstract class. */
  public abstract static class Abstract extends Valid {}

  /** A handler whose constructor throws. */
  public static final class Throwing extends Valid {
    /** Throws. */
    public Throwing() {
      throw new IllegalArgumentException("no database");
    }
  }

  @Test
  void a_handler_is_created_from_its_class_name() {
    assertThat(HandlerLoader.load(Valid.class.getName())).isInstanceOf(Valid.class);
    assertThat(HandlerLoader.load("dev.tollgate.handlers.message.Echo")).isInstanceOf(Echo.class);
  }

  @ParameterizedTest
  @CsvSource({
    "com.example.None, is not in the function's jar",
    "'', is not in the function's jar",
    "java.lang.String, does not implement dev.tollgate.message.TenantMessageHandler",
    "dev.tollgate.handlers.message.HandlerLoaderTest$NeedsArgument, is not a public class with a public constructor without parameters",
    "dev.tollgate.handlers.message.HandlerLoaderTest$PackagePrivate, is not a public class with a public constructor without parameters",
    "dev.tollgate.handlers.message.HandlerLoaderTest$Abstract, is not a public class with a public constructor without parameters",
    "dev.tollgate.handlers.message.HandlerLoaderTest$Throwing, cannot be instantiated",
  })
  void an_unusable_class_is_refused_by_name(String name, String why) {
    assertThatThrownBy(() -> HandlerLoader.load(name))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("Environment variable MESSAGE_HANDLER: class `" + name + "` " + why + ".");
  }
}
