package dev.tollgate.local.events;

import com.amazonaws.services.lambda.runtime.events.SQSEvent;
import dev.tollgate.local.LocalCloud;
import dev.tollgate.local.Options;
import dev.tollgate.local.endpoint.AccessKey;
import dev.tollgate.local.faults.FaultPlan;
import dev.tollgate.local.lambda.SampleHandlers;
import dev.tollgate.local.testing.HandlerJar;
import dev.tollgate.local.testing.ManualClock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.joda.time.DateTime;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.lambda.LambdaClient;
import software.amazon.awssdk.services.lambda.model.CreateFunctionRequest;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/** A cloud of a small template, whose functions say in the log what they were handed. */
final class EventsCloud implements AutoCloseable {
  static final String ROLE = "arn:aws:iam::000000000000:role/Reader";
  static final String FUNCTIONS = "arn:aws:lambda:us-east-1:000000000000:function:";
  private static final String TEMPLATE =
      """
      {'Resources':{
        'ItemsTable00000001':{'Type':'AWS::DynamoDB::Table','Properties':{
          'AttributeDefinitions':[{'AttributeName':'id','AttributeType':'S'}],
          'KeySchema':[{'AttributeName':'id','KeyType':'HASH'}],
          'BillingMode':'PAY_PER_REQUEST',
          'StreamSpecification':{'StreamViewType':'NEW_AND_OLD_IMAGES'}}},
        'ReaderRole00000002':{'Type':'AWS::IAM::Role','Properties':{'AssumeRolePolicyDocument':{
          'Version':'2012-10-17','Statement':{'Effect':'Allow','Action':'sts:AssumeRole','Principal':{'Service':'lambda.amazonaws.com'}}},
          'Policies':[{'PolicyName':'All','PolicyDocument':{
            'Version':'2012-10-17','Statement':{'Effect':'Allow','Action':['dynamodb:*','lambda:*','sqs:*'],'Resource':'*'}}}]}},
        'StrangerRole0000000D':{'Type':'AWS::IAM::Role','Properties':{'AssumeRolePolicyDocument':{
          'Version':'2012-10-17','Statement':{'Effect':'Allow','Action':'sts:AssumeRole','Principal':{'Service':'lambda.amazonaws.com'}}},
          'Policies':[{'PolicyName':'Some','PolicyDocument':{
            'Version':'2012-10-17','Statement':{'Effect':'Allow','Action':['dynamodb:DescribeStream','sqs:ReceiveMessage'],'Resource':'*'}}}]}},
        'LogLogGroup0000000A':{'Type':'AWS::Logs::LogGroup','Properties':{'RetentionInDays':30}},
        'PoolQueue00000003':{'Type':'AWS::SQS::Queue','Properties':{
          'QueueName':'pool.fifo','FifoQueue':true,'VisibilityTimeout':90}},
        'PoolFunction00000004':{'Type':'AWS::Lambda::Function','Properties':{
          'Code':{'S3Bucket':{'Fn::Sub':'assets-${AWS::AccountId}'},'S3Key':'code.jar'},
          'Handler':'dev.tollgate.local.lambda.SampleHandlers$Batches','Runtime':'java21','Timeout':15,'MemorySize':512,
          'Environment':{'Variables':{'ITEMS':{'Ref':'ItemsTable00000001'}}},
          'LoggingConfig':{'LogGroup':{'Ref':'LogLogGroup0000000A'}},
          'Architectures':['arm64'],
          'Role':{'Fn::GetAtt':['ReaderRole00000002','Arn']}}},
        'PoolFunctionCurrentVersion00000005abcdef':{'Type':'AWS::Lambda::Version','Properties':{'FunctionName':{'Ref':'PoolFunction00000004'}}},
        'PoolAlias00000006':{'Type':'AWS::Lambda::Alias','Properties':{'Name':'live','FunctionName':{'Ref':'PoolFunction00000004'},
          'FunctionVersion':{'Fn::GetAtt':['PoolFunctionCurrentVersion00000005abcdef','Version']}}},
        'PoolInvokeConfig0000000B':{'Type':'AWS::Lambda::EventInvokeConfig','Properties':{
          'FunctionName':{'Ref':'PoolFunction00000004'},'Qualifier':{'Fn::Select':[7,{'Fn::Split':[':',{'Ref':'PoolAlias00000006'}]}]},
          'MaximumRetryAttempts':1,'MaximumEventAgeInSeconds':60,
          'DestinationConfig':{'OnFailure':{'Destination':{'Fn::GetAtt':['FailuresQueue0000000C','Arn']}},
            'OnSuccess':{'Destination':{'Fn::GetAtt':['FailuresQueue0000000C','Arn']}}}}},
        'FailuresQueue0000000C':{'Type':'AWS::SQS::Queue','Properties':{'QueueName':'failures'}},
        'PoolMapping00000007':{'Type':'AWS::Lambda::EventSourceMapping','Properties':{
          'EventSourceArn':{'Fn::GetAtt':['PoolQueue00000003','Arn']},'FunctionName':{'Ref':'PoolAlias00000006'},
          'BatchSize':10,'FunctionResponseTypes':['ReportBatchItemFailures']}}},
       'Outputs':{
        'Stream':{'Value':{'Fn::GetAtt':['ItemsTable00000001','StreamArn']}},
        'PoolVersion':{'Value':{'Ref':'PoolFunctionCurrentVersion00000005abcdef'}},
        'PoolMapping':{'Value':{'Ref':'PoolMapping00000007'}}}}""";

  final ManualClock clock;
  private final Path directory;
  private final boolean keeps;
  private final FaultPlan faults;
  final LocalCloud cloud;
  final LambdaClient lambda;
  final SqsClient sqs;
  final DynamoDbClient dynamoDb;

  private EventsCloud(Path directory, boolean keeps, FaultPlan faults, ManualClock clock) {
    this.directory = directory;
    this.keeps = keeps;
    this.faults = faults;
    this.clock = clock;
    cloud =
        LocalCloud.start(
            new Options(
                    directory,
                    "127.0.0.1",
                    0,
                    keeps ? Optional.of(directory.resolve("data")) : Optional.empty(),
                    Optional.of(directory.resolve("run.log")),
                    Map.of(),
                    clock)
                .with(faults));
    lambda = client(LambdaClient.builder());
    sqs = client(SqsClient.builder());
    dynamoDb = client(DynamoDbClient.builder());
  }

  static EventsCloud start(Path directory, boolean keeps) {
    return start(directory, keeps, FaultPlan.none());
  }

  static EventsCloud start(Path directory, boolean keeps, FaultPlan faults) {
    try {
      Files.writeString(
          directory.resolve("App.assets.json"),
          "{\"files\":{\"h\":{\"source\":{\"path\":\"code.jar\"},\"destinations\":{\"d\":{\"objectKey\":\"code.jar\"}}}}}");
      HandlerJar.write(
          directory.resolve("code.jar"), SampleHandlers.class, SQSEvent.class, DateTime.class);
      Files.writeString(directory.resolve("App.template.json"), TEMPLATE.replace('\'', '"'));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new EventsCloud(
        directory, keeps, faults, new ManualClock(Instant.parse("2026-01-01T00:00:00Z")));
  }

  /** Stops the cloud and starts it again, with what it kept. */
  EventsCloud restarted() {
    close();
    return new EventsCloud(directory, keeps, faults, clock);
  }

  /** A function with a sample handler. */
  void createFunction(String name, String handler) {
    lambda.createFunction(function(name, handler).build());
  }

  static CreateFunctionRequest.Builder function(String name, String handler) {
    return CreateFunctionRequest.builder()
        .functionName(name)
        .role(ROLE)
        .runtime("java21")
        .handler(SampleHandlers.class.getName() + "$" + handler)
        .timeout(15)
        .code(code -> code.s3Bucket("assets-000000000000").s3Key("code.jar"));
  }

  String createQueue(String name, Map<QueueAttributeName, String> attributes) {
    return sqs.createQueue(r -> r.queueName(name).attributes(attributes)).queueUrl();
  }

  static String queueArn(String name) {
    return "arn:aws:sqs:us-east-1:000000000000:" + name;
  }

  String streamArn() {
    return cloud.outputs().getOrDefault("Stream", "");
  }

  void send(String queueUrl, String body, String group) {
    sqs.sendMessage(
        r -> {
          r.queueUrl(queueUrl).messageBody(body);
          if (!group.isEmpty()) {
            r.messageGroupId(group).messageDeduplicationId(group + body);
          }
        });
  }

  /** Messages in a queue, whether they can be received or not. */
  int held(String queueUrl) {
    Map<QueueAttributeName, String> attributes =
        sqs.getQueueAttributes(r -> r.queueUrl(queueUrl).attributeNames(QueueAttributeName.ALL))
            .attributes();
    return List.of(
            QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES,
            QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE,
            QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_DELAYED)
        .stream()
        .mapToInt(name -> Integer.parseInt(attributes.getOrDefault(name, "0")))
        .sum();
  }

  void advance(Duration by) throws InterruptedException {
    clock.advance(by);
    cloud.settle();
  }

  /** What a function has logged so far. */
  List<String> log(String function) {
    try {
      return Files.readAllLines(directory.resolve("run.log")).stream()
          .map(line -> line.split(" ", 4))
          .filter(parts -> parts.length == 4 && parts[1].equals(function))
          .map(parts -> parts[3])
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    lambda.close();
    sqs.close();
    dynamoDb.close();
    cloud.close();
  }

  private <B extends AwsClientBuilder<B, C>, C> C client(B builder) {
    AccessKey key = cloud.accessKey("test");
    return builder
        .endpointOverride(cloud.endpoint())
        .region(Region.US_EAST_1)
        .credentialsProvider(
            StaticCredentialsProvider.create(
                AwsSessionCredentials.create(
                    key.accessKeyId(), key.secretAccessKey(), key.sessionToken())))
        .build();
  }
}
