package dev.tollgate.cli.local;

import dev.tollgate.cli.http.RequestSigner;
import dev.tollgate.cli.prove.ProveCommand;
import dev.tollgate.cli.prove.account.AwsAccount;
import dev.tollgate.cli.prove.account.CdkStacks;
import dev.tollgate.cli.prove.account.Stacks;
import dev.tollgate.cli.terminal.Shell;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Supplier;

/** Opens the account that {@code tollgate prove} tries. */
public final class Accounts implements ProveCommand.StacksFactory {
  private final Shell shell;
  private final Cloud.Starter starter;
  private final Supplier<Optional<String>> region;
  private final Supplier<Optional<String>> profile;

  /**
   * @param starter starts the local clouds of a rehearsal
   * @param region the value of {@code --region}
   * @param profile the value of {@code --profile}
   */
  public Accounts(
      Shell shell,
      Cloud.Starter starter,
      Supplier<Optional<String>> region,
      Supplier<Optional<String>> profile) {
    this.shell = shell;
    this.starter = starter;
    this.region = region;
    this.profile = profile;
  }

  @Override
  public Stacks rehearsal(Path directory) {
    return new LocalStacks(starter, checkout(), directory);
  }

  @Override
  public Stacks aws(Path directory) {
    return new CdkStacks(
        AwsAccount.onAws(RequestSigner.defaultRegion(region.get(), profile.get()), profile.get()),
        shell,
        checkout(),
        directory);
  }

  private Path checkout() {
    return shell.home().orElse(shell.directory());
  }
}
