package dev.tollgate.local.cloudwatch;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.DoubleBinaryOperator;
import java.util.regex.Pattern;
import java.util.stream.DoubleStream;

/**
 * A metric math expression of numbers, metrics, arithmetic, comparisons and the functions {@code
 * FILL}, {@code IF}, {@code SERVICE_QUOTA}, {@code MAX}, {@code MIN} and {@code SUM}, the last
 * three over a list. It is evaluated for one period at a time. A value that is missing makes a
 * result missing, except in a list, where it is left out, and in {@code FILL}.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html">Using
 *     math expressions with CloudWatch metrics</a>
 */
final class MetricMath {
  private static final Pattern TOKEN = Pattern.compile("[<>=!]=|\\w+(?:\\.\\d+)?|\\S");

  /** The operators by precedence, those that bind least first. */
  private static final List<Map<String, DoubleBinaryOperator>> OPERATORS =
      List.of(
          Map.of(
              "<", (a, b) -> a < b ? 1 : 0,
              ">", (a, b) -> a > b ? 1 : 0,
              "<=", (a, b) -> a <= b ? 1 : 0,
              ">=", (a, b) -> a >= b ? 1 : 0,
              "==", (a, b) -> a == b ? 1 : 0,
              "!=", (a, b) -> a != b ? 1 : 0),
          Map.of("+", Double::sum, "-", (a, b) -> a - b),
          Map.of("*", (a, b) -> a * b, "/", (a, b) -> a / b));

  private final Deque<String> tokens;
  private final Set<String> metrics = new TreeSet<>();
  private final Set<String> quotas = new TreeSet<>();
  private final Value value;

  /** A part of an expression, which has a value in each period or none. */
  @FunctionalInterface
  private interface Value {
    OptionalDouble in(Map<String, OptionalDouble> period);
  }

  /**
   * Reads an expression.
   *
   * @throws IllegalArgumentException if it has something that is not known here
   */
  MetricMath(String text) {
    tokens = new ArrayDeque<>(TOKEN.matcher(text).results().map(found -> found.group()).toList());
    try {
      value = operation(0);
    } catch (NoSuchElementException e) {
      throw new IllegalArgumentException(text + " (expected: more at the end)", e);
    }
    if (!tokens.isEmpty()) {
      throw new IllegalArgumentException(next() + " (expected: the end of " + text + ")");
    }
  }

  /** The ids of the metrics in the expression. */
  Set<String> metrics() {
    return metrics;
  }

  /** The ids of the metrics whose quotas are in the expression. */
  Set<String> quotas() {
    return quotas;
  }

  /** The name of the quota of a metric among the values of a period. */
  static String quota(String metric) {
    return "SERVICE_QUOTA(" + metric + ")";
  }

  /**
   * The value in a period.
   *
   * @param period the values of the metrics, by id, and of their quotas, by {@link #quota}
   */
  OptionalDouble in(Map<String, OptionalDouble> period) {
    return value.in(period);
  }

  private Value operation(int precedence) {
    if (precedence == OPERATORS.size()) {
      return operand();
    }
    Value left = operation(precedence + 1);
    for (DoubleBinaryOperator operator = OPERATORS.get(precedence).get(next());
        operator != null;
        operator = OPERATORS.get(precedence).get(next())) {
      tokens.remove();
      Value first = left;
      Value second = operation(precedence + 1);
      DoubleBinaryOperator applied = operator;
      left = period -> apply(applied, first.in(period), second.in(period));
    }
    return left;
  }

  /** CloudWatch has no data point where a number is divided by zero. */
  private static OptionalDouble apply(
      DoubleBinaryOperator operator, OptionalDouble left, OptionalDouble right) {
    if (left.isEmpty() || right.isEmpty()) {
      return OptionalDouble.empty();
    }
    double result = operator.applyAsDouble(left.getAsDouble(), right.getAsDouble());
    return Double.isFinite(result) ? OptionalDouble.of(result) : OptionalDouble.empty();
  }

  /** The next token; empty at the end. */
  private String next() {
    return tokens.isEmpty() ? "" : tokens.element();
  }

  private Value operand() {
    String token = tokens.remove();
    if (token.equals("(")) {
      Value inner = operation(0);
      expect(")");
      return inner;
    } else if (token.matches("[0-9].*")) {
      OptionalDouble number = OptionalDouble.of(Double.parseDouble(token));
      return period -> number;
    } else if (token.matches("[a-z]\\w*")) {
      metrics.add(token);
      return period -> period.getOrDefault(token, OptionalDouble.empty());
    }
    return switch (token) {
      case "FILL" -> {
        List<Value> of = arguments("(", ")", 2);
        yield period -> {
          OptionalDouble filled = of.get(0).in(period);
          return filled.isPresent() ? filled : of.get(1).in(period);
        };
      }
      case "IF" -> {
        List<Value> of = arguments("(", ")", 3);
        yield period -> {
          OptionalDouble condition = of.get(0).in(period);
          return condition.isEmpty()
              ? condition
              : of.get(condition.getAsDouble() == 0 ? 2 : 1).in(period);
        };
      }
      case "SERVICE_QUOTA" -> {
        expect("(");
        String metric = tokens.remove();
        expect(")");
        metrics.add(metric);
        quotas.add(metric);
        yield period -> period.getOrDefault(quota(metric), OptionalDouble.empty());
      }
      case "MAX" -> {
        List<Value> of = list();
        yield period -> present(of, period).max();
      }
      case "MIN" -> {
        List<Value> of = list();
        yield period -> present(of, period).min();
      }
      case "SUM" -> {
        List<Value> of = list();
        yield period ->
            present(of, period).findAny().isEmpty()
                ? OptionalDouble.empty()
                : OptionalDouble.of(present(of, period).sum());
      }
      default ->
          throw new IllegalArgumentException(
              token + " (expected: a number, a metric, FILL, IF, MAX, MIN, SERVICE_QUOTA or SUM)");
    };
  }

  private static DoubleStream present(List<Value> values, Map<String, OptionalDouble> period) {
    return values.stream().map(each -> each.in(period)).flatMapToDouble(OptionalDouble::stream);
  }

  /** Without the brackets, they are those of all periods of one metric. */
  private List<Value> list() {
    expect("(");
    List<Value> values = arguments("[", "]", 0);
    expect(")");
    return values;
  }

  private List<Value> arguments(String open, String close, int count) {
    expect(open);
    List<Value> values = new ArrayList<>(List.of(operation(0)));
    while (next().equals(",")) {
      tokens.remove();
      values.add(operation(0));
    }
    expect(close);
    if (count > 0 && values.size() != count) {
      throw new IllegalArgumentException(values.size() + " arguments (expected: " + count + ")");
    }
    return values;
  }

  private void expect(String wanted) {
    String token = tokens.remove();
    if (!token.equals(wanted)) {
      throw new IllegalArgumentException(token + " (expected: " + wanted + ")");
    }
  }
}
