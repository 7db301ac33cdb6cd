package dev.tollgate.cli.prove;

import java.time.Duration;
import java.util.List;

/** One step of the proof. */
interface Step {
  /** The step's name, in one lower-case word. */
  String name();

  /** What it does, in a sentence. */
  String description();

  /** The most that it costs, in cents of US dollars at list prices of us-east-1. */
  int cents(Run.Settings settings);

  /** How long it usually takes on AWS. */
  Duration usual(Run.Settings settings);

  /**
   * Does it.
   *
   * @return what was found
   * @throws dev.tollgate.cli.http.Failure if it cannot go on; the next run begins with this step
   */
  List<Finding> run(Run run);

  /** All steps, in their order. */
  static List<Step> all() {
    return List.of(
        new Preflight(),
        new Questions(),
        new Deploying(),
        new Promises(),
        new Attacks(),
        new LoadMinute(),
        new Teardown());
  }
}
