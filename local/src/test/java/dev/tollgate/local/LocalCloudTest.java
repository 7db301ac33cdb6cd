package dev.tollgate.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ServiceClient;
import dev.tollgate.local.faults.FaultPlan;
import dev.tollgate.local.lambda.SampleHandlers;
import dev.tollgate.local.template.TemplateException;
import dev.tollgate.local.testing.HandlerJar;
import dev.tollgate.local.testing.ManualClock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A cloud of a small template: one resource of most types, all of them with references to others.
 */
final class LocalCloudTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String TEMPLATE =
      """
      {'Resources':{
        'AppItemsTable00000001':{'Type':'AWS::DynamoDB::Table','Properties':{
          'AttributeDefinitions':[{'AttributeName':'id','AttributeType':'S'}],
          'KeySchema':[{'AttributeName':'id','KeyType':'HASH'}],
          'BillingMode':'PAY_PER_REQUEST',
          'TimeToLiveSpecification':{'AttributeName':'ttl','Enabled':true},
          'StreamSpecification':{'StreamViewType':'NEW_AND_OLD_IMAGES'},
          'PointInTimeRecoverySpecification':{'PointInTimeRecoveryEnabled':true}}},
        'AppDeadQueue00000002':{'Type':'AWS::SQS::Queue','Properties':{'SqsManagedSseEnabled':true,'MessageRetentionPeriod':1209600}},
        'AppDeadPolicy0000000F':{'Type':'AWS::SQS::QueuePolicy','Properties':{'Queues':[{'Ref':'AppDeadQueue00000002'}],
          'PolicyDocument':{'Version':'2012-10-17','Statement':[{'Effect':'Deny','Action':'sqs:*','Principal':{'AWS':'*'},
            'Resource':{'Fn::GetAtt':['AppDeadQueue00000002','Arn']},'Condition':{'Bool':{'aws:SecureTransport':'false'}}}]}}},
        'AppWorkQueue00000003':{'Type':'AWS::SQS::Queue','Properties':{
          'RedrivePolicy':{'deadLetterTargetArn':{'Fn::GetAtt':['AppDeadQueue00000002','Arn']},'maxReceiveCount':3}}},
        'AppEchoRole00000004':{'Type':'AWS::IAM::Role','Properties':{'AssumeRolePolicyDocument':{
          'Version':'2012-10-17','Statement':{'Effect':'Allow','Action':'sts:AssumeRole','Principal':{'Service':['lambda.amazonaws.com','scheduler.amazonaws.com']}}}}},
        'AppEchoPolicy00000005':{'Type':'AWS::IAM::Policy','Properties':{'PolicyName':'Echo','Roles':[{'Ref':'AppEchoRole00000004'}],
          'PolicyDocument':{'Version':'2012-10-17','Statement':[
            {'Effect':'Allow','Action':'sqs:SendMessage','Resource':{'Fn::GetAtt':['AppWorkQueue00000003','Arn']}}]}}},
        'AppEchoFunction00000006':{'Type':'AWS::Lambda::Function','DependsOn':['AppEchoPolicy00000005'],'Properties':{
          'Code':{'S3Bucket':{'Fn::Sub':'assets-${AWS::AccountId}'},'S3Key':'code.jar'},
          'Handler':'dev.tollgate.local.lambda.SampleHandlers$Introspector','Runtime':'java21','Timeout':30,
          'Environment':{'Variables':{'ITEMS':{'Ref':'AppItemsTable00000001'},'QUEUE':{'Ref':'AppWorkQueue00000003'}}},
          'Role':{'Fn::GetAtt':['AppEchoRole00000004','Arn']}}},
        'AppEchoVersion00000007':{'Type':'AWS::Lambda::Version','Properties':{'FunctionName':{'Ref':'AppEchoFunction00000006'}}},
        'AppEchoAlias00000008':{'Type':'AWS::Lambda::Alias','Properties':{
          'FunctionName':{'Ref':'AppEchoFunction00000006'},'FunctionVersion':{'Fn::GetAtt':['AppEchoVersion00000007','Version']},'Name':'live'}},
        'AppGroup00000009':{'Type':'AWS::Scheduler::ScheduleGroup','Properties':{'Name':'group'}},
        'AppTick0000000A':{'Type':'AWS::Scheduler::Schedule','Properties':{'Name':'tick','GroupName':{'Ref':'AppGroup00000009'},
          'FlexibleTimeWindow':{'Mode':'OFF'},'ScheduleExpression':'cron(* * * * ? *)',
          'Target':{'Arn':{'Fn::GetAtt':['AppWorkQueue00000003','Arn']},'RoleArn':{'Fn::GetAtt':['AppEchoRole00000004','Arn']},
            'Input':'<aws.scheduler.scheduled-time>'}}},
        'AppPermission00000010':{'Type':'AWS::Lambda::Permission','Properties':{'Action':'lambda:InvokeFunction',
          'FunctionName':{'Ref':'AppEchoAlias00000008'},'Principal':'apigateway.amazonaws.com',
          'SourceArn':{'Fn::Sub':'arn:aws:execute-api:${AWS::Region}:${AWS::AccountId}:${AppApi0000000B}/*/*/echo'}}},
        'AppApi0000000B':{'Type':'AWS::ApiGatewayV2::Api','Properties':{'Name':'Echo API','ProtocolType':'HTTP'}},
        'AppIntegration0000000C':{'Type':'AWS::ApiGatewayV2::Integration','Properties':{
          'ApiId':{'Ref':'AppApi0000000B'},'IntegrationType':'AWS_PROXY','IntegrationUri':{'Ref':'AppEchoAlias00000008'},'PayloadFormatVersion':'2.0'}},
        'AppRoute0000000D':{'Type':'AWS::ApiGatewayV2::Route','Properties':{
          'ApiId':{'Ref':'AppApi0000000B'},'RouteKey':'GET /echo','AuthorizationType':'NONE',
          'Target':{'Fn::Join':['',['integrations/',{'Ref':'AppIntegration0000000C'}]]}}},
        'AppStage0000000E':{'Type':'AWS::ApiGatewayV2::Stage','Properties':{'ApiId':{'Ref':'AppApi0000000B'},'StageName':'$default','AutoDeploy':true}}},
       'Outputs':{'EchoURL':{'Value':{'Fn::Sub':'${AppApi0000000B.ApiEndpoint}/echo'}}}}""";

  @TempDir private Path directory;
  private final ManualClock clock = new ManualClock(Instant.parse("2026-01-01T00:00:30Z"));

  @BeforeEach
  void write_assembly() throws IOException {
    Files.writeString(
        directory.resolve("App.assets.json"),
        "{\"files\":{\"h\":{\"source\":{\"path\":\"code.jar\"},\"destinations\":{\"d\":{\"objectKey\":\"code.jar\"}}}}}");
    HandlerJar.write(directory.resolve("code.jar"), SampleHandlers.class);
    writeTemplate(TEMPLATE);
  }

  @Test
  void template_comes_up_and_its_parts_know_of_each_other() throws Exception {
    try (LocalCloud cloud = LocalCloud.start(Options.inMemory(directory, clock))) {
      assertThat(cloud.requests().list()).isEmpty();
      String url = cloud.outputs().getOrDefault("EchoURL", "");
      assertThat(url).matches("http://127\\.0\\.0\\.1:\\d+/echo-api/echo");

      var response =
          HttpClient.newHttpClient()
              .send(HttpRequest.newBuilder(URI.create(url)).build(), BodyHandlers.ofString());

      JsonNode answer = JSON.readTree(response.body());
      assertThat(answer.at("/arn").asText())
          .isEqualTo("arn:aws:lambda:us-east-1:000000000000:function:Echo:live");
      JsonNode environment = answer.path("environment");
      assertThat(environment.path("ITEMS").asText()).isEqualTo("Items");
      assertThat(environment.path("QUEUE").asText())
          .isEqualTo("https://sqs.us-east-1.amazonaws.com/000000000000/Work");
      assertThat(environment.path("AWS_ENDPOINT_URL").asText())
          .isEqualTo(cloud.endpoint().toString());
      assertThat(answer.path("millis").asLong()).isEqualTo(clock.millis());
    }
  }

  @Test
  void schedule_of_the_template_fires_when_the_clock_moves() throws Exception {
    try (LocalCloud cloud = LocalCloud.start(Options.inMemory(directory, clock))) {
      clock.advance(Duration.ofMinutes(2));
      cloud.settle();

      assertThat(messages(cloud)).isEqualTo("2");
      assertThat(cloud.requests().of("Scheduler")).hasSize(2);
    }
  }

  @Test
  void cloud_with_data_directory_isThere_again_after_a_restart() throws Exception {
    Options options =
        new Options(
            directory,
            "127.0.0.1",
            0,
            Optional.of(directory.resolve("data")),
            Optional.of(directory.resolve("logs/run.log")),
            Map.of(),
            clock);
    try (LocalCloud cloud = LocalCloud.start(options)) {
      call(
          cloud,
          "dynamodb",
          "DynamoDB_20120810.PutItem",
          "{'TableName':'Items','Item':{'id':{'S':'a'}}}");
      clock.advance(Duration.ofMinutes(1));
      cloud.settle();
      cloud.writeOutputs(directory.resolve("logs/outputs.json"));
    }
    assertThat(Stream.of("run.log", "outputs.json").map(directory.resolve("logs")::resolve))
        .allMatch(file -> permissions(file).equals("rw-------"));
    assertThat(kept())
        .hasSizeGreaterThan(4)
        .filteredOn(Files::isDirectory)
        .hasSize(4)
        .allMatch(file -> permissions(file).equals("rwx------"));
    Path script = Files.writeString(directory.resolve("data/functions/deploy.sh"), "");
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));

    try (LocalCloud cloud = LocalCloud.start(options)) {
      assertThat(permissions(script)).isEqualTo("rwxr-xr-x");
      assertThatThrownBy(() -> LocalCloud.start(options))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage(
              directory.resolve("data")
                  + " is in use by another local cloud. Stop it, or choose another data directory.");
      assertThat(
              call(cloud, "dynamodb", "DynamoDB_20120810.Scan", "{'TableName':'Items'}")
                  .path("Count")
                  .asInt())
          .isOne();
      assertThat(messages(cloud)).isEqualTo("1");
    }

    writeTemplate(TEMPLATE.replace("'AttributeName':'id'", "'AttributeName':'other'"));
    assertThatThrownBy(() -> LocalCloud.start(options))
        .isInstanceOf(TemplateException.class)
        .hasMessageContaining("AppItemsTable00000001.Properties.KeySchema");
  }

  private static String permissions(Path file) {
    try {
      return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What the cloud keeps in its directories, and they. */
  private List<Path> kept() throws IOException {
    try (Stream<Path> all = Files.walk(directory.resolve("data"), 2)) {
      return all.skip(1).toList();
    }
  }

  /** Addresses of this machine at which nobody reaches what listens at 127.0.0.1 alone. */
  private static List<InetAddress> otherAddresses() throws IOException {
    List<InetAddress> others = new ArrayList<>();
    others.add(InetAddress.getByAddress(new byte[] {127, 0, 0, 2}));
    NetworkInterface.networkInterfaces()
        .flatMap(NetworkInterface::inetAddresses)
        .filter(address -> !address.getHostAddress().equals("127.0.0.1"))
        .forEach(others::add);
    return others;
  }

  private static boolean listensAt(InetAddress address, int port) {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(address, port), 500);
      return true;
    } catch (IOException refused) {
      return false;
    }
  }

  private static List<Integer> ports(LocalCloud cloud) {
    return List.of(
        URI.create(cloud.outputs().getOrDefault("EchoURL", "")).getPort(),
        cloud.endpoint().getPort());
  }

  @Test
  void cloud_listens_at_the_loopback_address_alone() throws IOException {
    try (LocalCloud cloud = LocalCloud.start(Options.inMemory(directory, clock))) {
      for (int port : ports(cloud)) {
        assertThat(listensAt(InetAddress.getLoopbackAddress(), port)).isTrue();
        assertThat(otherAddresses()).noneMatch(address -> listensAt(address, port));
      }
    }
  }

  @Test
  void cloud_that_is_told_to_listen_everywhere_keeps_the_apis_of_aws_to_itself()
      throws IOException {
    Options everywhere =
        new Options(directory, "0.0.0.0", 0, Optional.empty(), Optional.empty(), Map.of(), clock);
    try (LocalCloud cloud = LocalCloud.start(everywhere)) {
      List<Integer> ports = ports(cloud);
      assertThat(otherAddresses()).anyMatch(address -> listensAt(address, ports.get(0)));
      assertThat(otherAddresses()).noneMatch(address -> listensAt(address, ports.get(1)));
    }
  }

  @Test
  void keys_of_an_issuer_that_no_authorizer_names_are_an_error() {
    Options options =
        new Options(
            directory,
            "127.0.0.1",
            0,
            Optional.empty(),
            Optional.empty(),
            Map.of("https://typo.example", URI.create("file:///keys.json")),
            clock);
    assertThatThrownBy(() -> LocalCloud.start(options))
        .hasMessageContaining("keys of issuer https://typo.example (expected: an issuer that");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "'AuthorizerType':'JWT' | 'AuthorizerType':'COGNITO' | AuthorizerType: COGNITO (expected: REQUEST or JWT)",
        "$request.header.Authorization | $request.querystring.t | IdentitySource: [$request.querystring.t] (expected: $request.header.Authorization)",
        "https://i.example | http://i.example | Issuer: http://i.example (expected: https://…)",
        "'Audience':['a'] | 'Audience':[] | Audience: absent (expected: at least one)",
        "'AuthorizationType':'JWT' | 'AuthorizationType':'OAUTH' | AuthorizationType: OAUTH (expected: NONE, AWS_IAM, JWT or CUSTOM)",
      })
  void an_authorizer_that_cannot_be_served_is_an_error(String from, String to, String message)
      throws IOException {
    String template =
        TEMPLATE
            .replace(
                "'AuthorizationType':'NONE'",
                "'AuthorizationType':'JWT','AuthorizerId':{'Ref':'AppTokens0000000F'}")
            .replace(
                "'AppStage0000000E'",
                """
                'AppTokens0000000F':{'Type':'AWS::ApiGatewayV2::Authorizer','Properties':{
                  'ApiId':{'Ref':'AppApi0000000B'},'Name':'Tokens','AuthorizerType':'JWT',
                  'IdentitySource':['$request.header.Authorization'],
                  'JwtConfiguration':{'Audience':['a'],'Issuer':'https://i.example'}}},
                'AppStage0000000E'""");
    assertThat(template).contains(from);
    writeTemplate(template);
    LocalCloud.start(Options.inMemory(directory, clock)).close();

    writeTemplate(template.replace(from, to));
    assertThatThrownBy(() -> LocalCloud.start(Options.inMemory(directory, clock)))
        .isInstanceOf(TemplateException.class)
        .hasMessageContaining(message);
  }

  private static final String USER_POOL =
      """
      'AppPool00000010':{'Type':'AWS::Cognito::UserPool','Properties':{'UserPoolName':'operators','MfaConfiguration':'OPTIONAL'}},
      'AppPoolPage00000011':{'Type':'AWS::Cognito::UserPoolClient','Properties':{'UserPoolId':{'Ref':'AppPool00000010'},'GenerateSecret':false}},
      'AppPoolDomain00000012':{'Type':'AWS::Cognito::UserPoolDomain','Properties':{'UserPoolId':{'Ref':'AppPool00000010'},'Domain':'pages'}},
      'AppTokens0000000F':{'Type':'AWS::ApiGatewayV2::Authorizer','Properties':{
        'ApiId':{'Ref':'AppApi0000000B'},'Name':'Operators','AuthorizerType':'JWT',
        'IdentitySource':['$request.header.Authorization'],
        'JwtConfiguration':{'Audience':[{'Ref':'AppPoolPage00000011'}],
          'Issuer':{'Fn::Join':['',['https://cognito-idp.us-east-1.amazonaws.com/',{'Ref':'AppPool00000010'}]]}}}},
      'AppStage0000000E'""";

  private int echoOf(String template, String authorization) throws Exception {
    writeTemplate(
        template.replace(
            "'AuthorizationType':'NONE'",
            "'AuthorizationType':'JWT','AuthorizerId':{'Ref':'AppTokens0000000F'}"));
    try (LocalCloud cloud = LocalCloud.start(Options.inMemory(directory, clock))) {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(URI.create(cloud.outputs().getOrDefault("EchoURL", "")));
      if (!authorization.isEmpty()) {
        request.header("Authorization", authorization);
      }
      return HttpClient.newHttpClient()
          .send(request.build(), BodyHandlers.discarding())
          .statusCode();
    }
  }

  @Test
  void routes_that_take_tokens_of_the_templates_own_user_pool_are_open() throws Exception {
    String guarded = TEMPLATE.replace("'AppStage0000000E'", USER_POOL);

    assertThat(echoOf(guarded, "")).isEqualTo(200);
    assertThat(echoOf(guarded, "Bearer whatever")).isEqualTo(200);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "'FunctionName':{'Ref':'AppEchoAlias00000008'},'Principal' | 'FunctionName':{'Ref':'AppEchoFunction00000006'},'Principal'",
        "'Principal':'apigateway | 'Principal':'events",
        "/*/*/echo | /*/*/reverb",
        "/*/*/echo | /*/PUT/echo",
        "${AppApi0000000B}/* | another/*",
      })
  void a_function_that_api_gateway_may_not_invoke_is_an_error(String from, String to)
      throws IOException {
    assertThat(TEMPLATE).contains(from);
    writeTemplate(TEMPLATE.replace(from, to));
    Options options = Options.inMemory(directory, clock);

    assertThatThrownBy(() -> LocalCloud.start(options))
        .hasMessageContaining(
            "API Gateway may not invoke"
                + " arn:aws:lambda:us-east-1:000000000000:function:Echo:live for"
                + " echo-api/$default/GET/echo (expected: an AWS::Lambda::Permission");
    LocalCloud.start(options.withoutIam()).close();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'Fn::Join':['',['https://cognito-idp.us-east-1.amazonaws.com/',{'Ref':'AppPool00000010'}]]} | 'https://cognito-idp.us-east-1.amazonaws.com/us-east-1_Another'",
        "{'Fn::Join':['',['https://cognito-idp.us-east-1.amazonaws.com/',{'Ref':'AppPool00000010'}]]} | {'Fn::Join':['',['https://cognito-idp.us-east-1.amazonaws.com/',{'Ref':'AppPool00000010'},'/']]}",
        "https://cognito-idp.us-east-1 | https://cognito-idp.eu-west-1",
      })
  void routes_that_take_tokens_of_any_other_issuer_are_guarded(String from, String to)
      throws Exception {
    assertThat(USER_POOL).contains(from);
    String other = TEMPLATE.replace("'AppStage0000000E'", USER_POOL.replace(from, to));

    assertThat(echoOf(other, "")).isEqualTo(401);
    assertThat(echoOf(other, "Bearer whatever")).isEqualTo(401);
  }

  @Test
  void an_api_without_a_stage_is_an_error_that_says_so() throws IOException {
    writeTemplate(TEMPLATE.replaceFirst("(?s),\\s*'AppStage0000000E':\\{.*?\\}\\}\\}", "}"));

    assertThatThrownBy(() -> LocalCloud.start(Options.inMemory(directory, clock)))
        .hasMessageContaining("API echo-api has stages [] (expected: one)");
  }

  @Test
  void outputs_are_written_as_the_cdk_writes_them() throws IOException {
    try (LocalCloud cloud = LocalCloud.start(Options.inMemory(directory, clock))) {
      Path file = directory.resolve("out/outputs.json");
      cloud.writeOutputs(file);

      assertThat(JSON.readTree(file.toFile()).at("/App/EchoURL").asText())
          .isEqualTo(cloud.outputs().get("EchoURL"));
    }
  }

  @Test
  void unknown_type_isAnError_that_names_it() throws IOException {
    writeTemplate("{'Resources':{'Thing':{'Type':'AWS::New::Thing'}}}");

    assertThatThrownBy(() -> LocalCloud.start(Options.inMemory(directory, clock)))
        .isInstanceOf(TemplateException.class)
        .hasMessage("Thing: unknown type AWS::New::Thing");
  }

  @ParameterizedTest
  @CsvSource({"HTTP, 49, 30000", "HTTP, 30001, 30000", "WEBSOCKET, 29001, 29000"})
  void timeout_of_an_integration_has_the_range_of_its_api(String protocol, int millis, int most)
      throws IOException {
    writeTemplate(
        """
        {'Resources':{
          'Api':{'Type':'AWS::ApiGatewayV2::Api','Properties':{'Name':'a','ProtocolType':'%s'}},
          'I':{'Type':'AWS::ApiGatewayV2::Integration','Properties':{'ApiId':{'Ref':'Api'},
            'IntegrationType':'AWS_PROXY','IntegrationUri':'arn','TimeoutInMillis':%d}}}}"""
            .formatted(protocol, millis));

    assertThatThrownBy(() -> LocalCloud.start(Options.inMemory(directory, clock)))
        .isInstanceOf(TemplateException.class)
        .hasMessage(
            "I.Properties.TimeoutInMillis: %d (expected: 50 to %d)".formatted(millis, most));
  }

  @Test
  void settings_of_a_route_need_the_route() throws IOException {
    writeTemplate(
        """
        {'Resources':{
          'Api':{'Type':'AWS::ApiGatewayV2::Api','Properties':{'Name':'a','ProtocolType':'HTTP'}},
          'Stage':{'Type':'AWS::ApiGatewayV2::Stage','Properties':{'ApiId':{'Ref':'Api'},
            'StageName':'$default','RouteSettings':{'GET /a':{'ThrottlingRateLimit':0.5}}}}}}""");

    assertThatThrownBy(() -> LocalCloud.start(Options.inMemory(directory, clock)))
        .isInstanceOf(TemplateException.class)
        .hasMessageContaining("Unable to find Route by key GET /a within the provided");
  }

  @Test
  void unknown_property_isAnError_that_names_it() throws IOException {
    writeTemplate("{'Resources':{'Q':{'Type':'AWS::SQS::Queue','Properties':{'Speed':1}}}}");

    assertThatThrownBy(() -> LocalCloud.start(Options.inMemory(directory, clock)))
        .isInstanceOf(TemplateException.class)
        .hasMessage("Q.Properties.Speed: unknown property");
  }

  @Test
  void event_source_mapping_depends_on_its_function_and_the_rights_to_read() throws Exception {
    String template =
        TEMPLATE
            .replace(
                "{'Resources':{",
                """
                {'Resources':{
                'AppJobs00000000':{'Type':'AWS::Lambda::EventSourceMapping',
                  'DependsOn':['AppWorkQueue00000003','AppEchoFunction00000006'],'Properties':{
                  'EventSourceArn':{'Fn::Sub':'arn:aws:sqs:${AWS::Region}:${AWS::AccountId}:Work'},
                  'FunctionName':'Echo'}},""")
            .replace("'sqs:SendMessage'", "'sqs:*'")
            .replace("'Outputs':{", "'Outputs':{'Mapping':{'Value':{'Ref':'AppJobs00000000'}},");
    writeTemplate(template);

    try (LocalCloud cloud = LocalCloud.start(Options.inMemory(directory, clock))) {
      clock.advance(Duration.ofMinutes(2));
      cloud.settle();

      assertThat(cloud.outputs().get("Mapping")).matches("[0-9a-f-]{36}");
      assertThat(messages(cloud)).isEqualTo("0");
    }

    writeTemplate(
        template.replace(
            "['AppWorkQueue00000003','AppEchoFunction00000006']", "['AppWorkQueue00000003']"));
    assertThat(refusalInSomeOrder()).contains("Function does not exist");
    writeTemplate(template.replace("'DependsOn':['AppEchoPolicy00000005'],", ""));
    assertThat(refusalInSomeOrder())
        .contains("does not have permissions to call ReceiveMessage on SQS");
  }

  /** The error with which the template does not come up in an order of its resources. */
  private String refusalInSomeOrder() {
    for (long seed = 0; seed < 30; seed++) {
      Options options = Options.inMemory(directory, clock);
      FaultPlan order = new FaultPlan(seed, Map.of(), Map.of(), Map.of());
      try (LocalCloud cloud = LocalCloud.start(options.with(order))) {
        assertThat(cloud.outputs()).isNotEmpty();
      } catch (TemplateException e) {
        return String.valueOf(e.getMessage());
      }
    }
    throw new AssertionError("The template comes up in any order");
  }

  @Test
  void stage_serves_a_deployment_that_was_created_after_all_routes() throws Exception {
    String template =
        TEMPLATE
            .replace("'AutoDeploy':true", "'DeploymentId':{'Ref':'AppDeployment00000011'}")
            .replace(
                "{'Resources':{",
                """
                {'Resources':{
                'AppDeployment00000011':{'Type':'AWS::ApiGatewayV2::Deployment','DependsOn':['AppRoute0000000D'],
                  'Properties':{'ApiId':{'Ref':'AppApi0000000B'}}},""");
    writeTemplate(template);
    try (LocalCloud cloud = LocalCloud.start(Options.inMemory(directory, clock))) {
      assertThat(cloud.outputs()).containsKey("EchoURL");
    }

    writeTemplate(template.replace("['AppRoute0000000D']", "[]"));
    assertThat(refusalInSomeOrder())
        .startsWith(
            "AppStage0000000E.Properties.DeploymentId: the deployment was created before routes");
  }

  @Test
  void websocket_stage_that_logs_depends_on_the_accounts_log_role() throws Exception {
    String template =
        """
        {'Resources':{
          'Account':{'Type':'AWS::ApiGateway::Account'},
          'Api':{'Type':'AWS::ApiGatewayV2::Api','Properties':{'Name':'ws','ProtocolType':'WEBSOCKET',
            'RouteSelectionExpression':'$request.body.action'}},
          'Stage':{'Type':'AWS::ApiGatewayV2::Stage','DependsOn':'Account','Properties':{'ApiId':{'Ref':'Api'},
            'StageName':'production','AccessLogSettings':{'DestinationArn':'arn:aws:logs:::l','Format':'f'}}}},
         'Outputs':{'Api':{'Value':{'Ref':'Api'}}}}""";
    writeTemplate(template);
    LocalCloud.start(Options.inMemory(directory, clock)).close();

    writeTemplate(template.replace("'DependsOn':'Account',", ""));
    assertThat(refusalInSomeOrder()).contains("CloudWatch Logs role ARN must be set");
  }

  @Test
  void schedule_depends_on_its_group_and_its_role() throws Exception {
    String template =
        TEMPLATE
            .replace(
                "{'Resources':{",
                """
            {'Resources':{
            'AppTock00000000':{'Type':'AWS::Scheduler::Schedule','DependsOn':['AppGroup00000009','AppEchoPolicy00000005'],'Properties':{'Name':'tock','GroupName':'group',
              'FlexibleTimeWindow':{'Mode':'OFF'},'ScheduleExpression':'cron(* * * * ? *)',
              'Target':{'Arn':{'Fn::GetAtt':['AppWorkQueue00000003','Arn']},
                'RoleArn':{'Fn::Sub':'arn:aws:iam::${AWS::AccountId}:role/Echo'},'Input':'tock'}}},""")
            .replace(
                "'Outputs':{",
                "'Outputs':{'Tock':{'Value':{'Fn::GetAtt':['AppTock00000000','Arn']}},");
    writeTemplate(template);
    try (LocalCloud cloud = LocalCloud.start(Options.inMemory(directory, clock))) {
      clock.advance(Duration.ofMinutes(2));
      cloud.settle();

      assertThat(messages(cloud)).isEqualTo("4");
      assertThat(cloud.outputs())
          .containsEntry("Tock", "arn:aws:scheduler:us-east-1:000000000000:schedule/group/tock");
    }

    writeTemplate(template.replace("'GroupName':'group'", "'GroupName':'other'"));
    assertThatThrownBy(() -> LocalCloud.start(Options.inMemory(directory, clock)))
        .isInstanceOf(TemplateException.class)
        .hasMessage("AppTock00000000.Properties: Schedule group other does not exist.");

    writeTemplate(
        template.replace(
            "['AppGroup00000009','AppEchoPolicy00000005']", "['AppEchoPolicy00000005']"));
    assertThat(refusalInSomeOrder())
        .isEqualTo("AppTock00000000.Properties: Schedule group group does not exist.");
    writeTemplate(
        template.replace("['AppGroup00000009','AppEchoPolicy00000005']", "['AppGroup00000009']"));
    assertThat(refusalInSomeOrder())
        .contains("must allow AWS EventBridge Scheduler to assume the role");
  }

  @ParameterizedTest
  @ValueSource(strings = {"SendMessage", "CreateQueue", "ReceiveMessage"})
  void a_queue_request_that_is_not_an_object_is_refused(String operation) throws IOException {
    writeTemplate("{'Resources':{'Q':{'Type':'AWS::SQS::Queue'}}}");
    try (LocalCloud cloud = LocalCloud.start(Options.inMemory(directory, clock))) {
      ServiceClient.Answer answer =
          new ServiceClient(cloud.endpoint(), cloud.accessKey("test"))
              .call("sqs", "AmazonSQS." + operation, JSON.createArrayNode());
      assertThat(answer.status()).as("%s", answer).isEqualTo(400);
      assertThat(answer.body().path("__type").asText()).contains("SerializationException");
    }
  }

  private static String messages(LocalCloud cloud) throws IOException {
    return call(
            cloud,
            "sqs",
            "AmazonSQS.GetQueueAttributes",
            "{'QueueUrl':'https://sqs.us-east-1.amazonaws.com/000000000000/Work','AttributeNames':['All']}")
        .at("/Attributes/ApproximateNumberOfMessages")
        .asText();
  }

  private static ObjectNode call(LocalCloud cloud, String service, String target, String body)
      throws IOException {
    ServiceClient.Answer answer =
        new ServiceClient(cloud.endpoint(), cloud.accessKey("test"))
            .call(service, target, JSON.readTree(body.replace('\'', '"')));
    assertThat(answer.status()).as("%s", answer).isEqualTo(200);
    return answer.body();
  }

  private void writeTemplate(String text) throws IOException {
    Files.writeString(directory.resolve("App.template.json"), text.replace('\'', '"'));
  }
}
