package dev.tollgate.cli.prove;

import dev.tollgate.cli.prove.account.Account;
import dev.tollgate.cli.prove.probe.Answer;
import dev.tollgate.cli.prove.probe.Probe;
import dev.tollgate.cli.prove.probe.RecordedAnswer;
import dev.tollgate.cli.prove.probe.RecordedAnswers;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Deploys the probe stack, and compares AWS's answers with the recorded ones. */
final class Questions implements Step {
  /** Where the answers of this run are written to, below its directory. */
  static final String ANSWERS = "aws-answers";

  private static final String DATE_TIME = "yyyy-MM-ddTHH:mm:ss";

  @Override
  public String name() {
    return "questions";
  }

  @Override
  public String description() {
    return "Deploy a probe stack, and ask AWS what its documentation leaves open.";
  }

  @Override
  public int cents(Run.Settings settings) {
    return 2;
  }

  @Override
  public Duration usual(Run.Settings settings) {
    return Duration.ofMinutes(10);
  }

  @Override
  public List<Finding> run(Run run) {
    Instant deleteAt = run.beganAt().plus(Run.LIFETIME).truncatedTo(ChronoUnit.SECONDS);
    Map<String, String> context = new HashMap<>();
    context.put("prefix", run.settings().prefix());
    context.put("probe", "true");
    context.put("deleteAt", deleteAt.toString().substring(0, DATE_TIME.length()));
    context.put("budgetEmail", run.settings().email().orElse(""));
    run.deploy(run.probeName(), context);

    RecordedAnswers recorded = RecordedAnswers.read(run.settings().answers());
    List<Answer> answers = new ArrayList<>();
    List<Finding> findings = new ArrayList<>();
    Account account = run.stacks().account(run.probeName());
    Probe.ask(
        run.outputs(run.probeName()),
        account,
        run.shell(),
        answers::add,
        (question, failure) -> findings.add(Finding.unknown(question.text(), failure.reason())));
    RecordedAnswers seen = recorded;
    for (Answer answer : answers) {
      findings.add(finding(recorded, answer));
      seen = seen.with(answer, run.now());
    }
    if (!run.stacks().areLocal()) {
      seen.write(run.directory(ANSWERS));
    }
    return findings;
  }

  private static Finding finding(RecordedAnswers recorded, Answer answer) {
    List<RecordedAnswer.Difference> differences = recorded.compare(answer);
    return Finding.of(
        differences.isEmpty(),
        "AWS answers as in docs/aws-answers/%s.json".formatted(answer.question()),
        differences.stream().map(Object::toString).collect(Collectors.joining("; ")),
        recorded.of(answer).ifWrong());
  }
}
