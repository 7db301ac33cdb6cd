package dev.tollgate.cli.prove;

import dev.tollgate.cli.terminal.Shell;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Asks AWS, through the probe stack, what its documentation leaves open. */
public final class Probe {
  private Probe() {}

  /** The questions, in the order in which they are asked. */
  public static List<Question> questions() {
    return List.of();
  }

  /**
   * Asks all questions. It takes a few minutes on AWS, because a schedule runs once a minute and
   * logs appear late.
   *
   * @param outputs the outputs of the probe stack
   * @param account the account of the stack, as a caller that may assume the stack's role, read its
   *     logs and receive its messages
   * @param shell waits between attempts
   * @param consumer receives each answer as soon as it is known
   * @throws dev.tollgate.cli.http.Failure if a question gets no answer
   */
  public static void ask(
      Map<String, String> outputs, Account account, Shell shell, Consumer<Answer> consumer) {
    throw new UnsupportedOperationException();
  }
}
